//! Text as plans are written in it: lines with their fences, list items, sections, tags, front matter, tables.
//!
//! Nothing here knows a plan. Every reader is total: any text gives an answer, none a panic.

mod beginning;
mod doc;
mod front;
mod inline;
mod item;
mod paths;
mod table;
mod tags;

pub(crate) use beginning::{after_any, after_each, after_ignoring_case};
pub(crate) use doc::{Doc, Heading, Line, Range, fence};
pub(crate) use front::{Front, Value};
pub(crate) use inline::{Span, decode, field, link, plain, spans};
pub(crate) use item::{Item, Mark, item};
pub(crate) use paths::{beside, is_path, join, paths};
pub(crate) use table::{Table, tables};
pub(crate) use tags::{Element, Tag, element, elements};
