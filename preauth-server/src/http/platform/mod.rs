//! The platform API, on the private listener, behind the operator token.
