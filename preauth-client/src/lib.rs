//! SDK for ERP developers.
