//! pagefence finds the interleavings in which a KV-cache page is reused before its transfer finishes, in
//! disaggregated (prefill/decode) LLM serving.
pub mod gate;
pub mod lifetime;
pub mod trace;
