-- Lists over all companies read few rows, whatever they are restricted to.

-- Deliveries that were given up, the newest first: one that arrives has no entry.
CREATE INDEX deliveries_failed_newest ON deliveries (created_at, id) WHERE status = 'FAILED';
-- Deliveries by type. The offer's has none: most deliveries are of it, and creates shall cost no more.
CREATE INDEX deliveries_by_type ON deliveries (event_type, created_at, id)
    WHERE event_type <> 'pre_authorization.created';

-- Mails by kind, without offers to registered suppliers, for the same reason. An offer to one that is not
-- registered adds an entry.
CREATE INDEX notices_by_kind ON notices (coalesce(variant, kind), staged_at, id)
    WHERE coalesce(variant, kind) <> 'OFFER';
-- Mails that were not sent and will not be: one that is sent has no entry.
CREATE INDEX notices_not_sent ON notices (status, staged_at, id) WHERE status IN ('FAILED', 'CANCELED');

-- Payment orders by status, without those that are paid, which most are.
CREATE INDEX payment_orders_of_status ON payment_orders (status, id) WHERE status <> 'PAID';
