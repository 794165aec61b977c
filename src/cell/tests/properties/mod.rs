//! What holds in every state: of shipped scopes, under shipped and under random profiles.

mod books;
mod names;
mod nonsense;
mod readiness;
mod reference;
mod walk;
