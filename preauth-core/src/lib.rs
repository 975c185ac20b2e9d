//! Rules and state of receivables-advance pre-authorizations.
