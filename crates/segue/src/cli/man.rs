//! `segue man`: manual pages, made from the commands as they are.

use clap::CommandFactory;

use super::args::{Args, Man};
use super::failure::Failure;
use super::open::Place;
use super::out;

/// Prints the first page, or writes all of them into a directory.
pub(super) fn man(at: &Place, args: &Man) -> Result<u8, Failure> {
    let command = Args::command();
    let Some(dir) = &args.into else {
        let mut page = Vec::new();
        clap_mangen::Man::new(command).render(&mut page)?;
        out::bytes(&page);
        return Ok(0);
    };
    let dir = at.dir.join(dir);
    std::fs::create_dir_all(&dir)?;
    clap_mangen::generate_to(command, &dir)?;
    out::line(&format!(
        "wrote the manual pages into {}; `man -l {}` shows one",
        dir.display(),
        dir.join("segue.1").display()
    ));
    Ok(0)
}
