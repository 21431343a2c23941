//! How readers get at other files: the caller decides what there is.

/// Files beside the plan, by the names that the plan gives them.
pub trait Files {
    /// The bytes of a file, if it is there.
    fn read(&self, path: &str) -> Option<Vec<u8>>;

    /// The names in a folder, files and folders, in any order.
    fn list(&self, _dir: &str) -> Vec<String> {
        Vec::new()
    }

    /// How large a file is, if it is there.
    fn size(&self, path: &str) -> Option<u64> {
        self.read(path).map(|bytes| bytes.len() as u64)
    }
}

/// No files at all.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoFiles;

impl Files for NoFiles {
    fn read(&self, _: &str) -> Option<Vec<u8>> {
        None
    }
}

impl<F: Fn(&str) -> Option<Vec<u8>>> Files for F {
    fn read(&self, path: &str) -> Option<Vec<u8>> {
        self(path)
    }
}
