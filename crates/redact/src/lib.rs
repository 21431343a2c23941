//! Secrets do not get through: what is stored, shown or sent is cleaned here first.
