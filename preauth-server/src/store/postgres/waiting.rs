//! The endpoints with pending deliveries.

/// A part of `WITH RECURSIVE`: each endpoint with pending deliveries, and a row without one at the end. It
/// goes from one to the next by the index of these, however many deliveries an endpoint has.
macro_rules! waiting {
    () => {
        "waiting (endpoint_id) AS (
             (SELECT endpoint_id FROM deliveries WHERE status = 'PENDING'
              ORDER BY endpoint_id LIMIT 1)
             UNION ALL
             SELECT (SELECT d.endpoint_id FROM deliveries d
                     WHERE d.status = 'PENDING' AND d.endpoint_id > w.endpoint_id
                     ORDER BY d.endpoint_id LIMIT 1)
             FROM waiting w WHERE w.endpoint_id IS NOT NULL
         )"
    };
}

pub(super) use waiting;
