//! The endpoints with pending deliveries.

/// A part of `WITH RECURSIVE`: each endpoint with pending deliveries, and a row without one at the end. It
/// goes from one to the next by the index of these, however many deliveries an endpoint has.
macro_rules! waiting {
    () => {
        "waiting (endpoint_id) AS (
             SELECT min(endpoint_id) FROM deliveries WHERE status = 'PENDING'
             UNION ALL
             SELECT (SELECT min(d.endpoint_id) FROM deliveries d
                     WHERE d.status = 'PENDING' AND d.endpoint_id > w.endpoint_id)
             FROM waiting w WHERE w.endpoint_id IS NOT NULL
         )"
    };
}

pub(super) use waiting;
