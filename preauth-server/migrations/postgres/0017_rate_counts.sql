-- What each key has used of its rate window. Behind a snapshot that is held open, a row that is rewritten
-- with every request leaves a chain of versions, which every further request went over. So a row takes 32
-- counts and is final then; the next generation goes on from there. The newest generation is found from
-- the end of the index, where nothing dead stands in the way. The janitor removes older ones.
--
-- Unlogged, because a count that a crash forgets is missed by nobody. No reference to the key: the check
-- would lock and rewrite the key's own row.
CREATE UNLOGGED TABLE rate_counts (
    api_key_id   UUID    NOT NULL,
    generation   BIGINT  NOT NULL CHECK (generation >= 0),
    -- When this generation was begun; unlike the columns after it, it never changes.
    begun_at     BIGINT  NOT NULL,
    started_at   BIGINT  NOT NULL,
    -- NULL in rows that no build wrote which knows this table.
    window_ms    BIGINT,
    -- Requests in this window: those of generations before, and those counted here.
    carried      BIGINT  NOT NULL CHECK (carried >= 0),
    counted      BIGINT  NOT NULL CHECK (counted >= 1),
    writes       INTEGER NOT NULL CHECK (writes BETWEEN 1 AND 32),
    last_used_at BIGINT  NOT NULL,
    PRIMARY KEY (api_key_id, generation)
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);

CREATE INDEX rate_counts_begun ON rate_counts (begun_at);

-- Builds before this one count in rate_windows. What they write there is counted here, and the row that
-- they read back gets the result: so builds side by side share one window. A later step removes
-- rate_windows with this trigger.
--
-- An INSERT comes before the conflict that makes an UPDATE of it, which then counts.
CREATE FUNCTION count_rate_window() RETURNS TRIGGER LANGUAGE plpgsql AS $$
DECLARE
    latest     rate_counts%ROWTYPE;
    visits     BIGINT := NEW.count;
    is_running BOOLEAN := FALSE;
BEGIN
    IF TG_OP = 'INSERT' AND EXISTS (
        SELECT 1 FROM rate_windows WHERE api_key_id = NEW.api_key_id) THEN
        RETURN NEW;
    END IF;
    IF TG_OP = 'UPDATE' AND NEW.started_at = OLD.started_at THEN
        visits := greatest(NEW.count - OLD.count, 1);
    END IF;
    LOOP
        SELECT * INTO latest FROM rate_counts WHERE api_key_id = NEW.api_key_id
        ORDER BY generation DESC LIMIT 1 FOR NO KEY UPDATE;
        IF NOT FOUND THEN
            INSERT INTO rate_counts (api_key_id, generation, begun_at, started_at, carried, counted,
                writes, last_used_at)
            VALUES (NEW.api_key_id, 0, NEW.last_used_at, NEW.started_at, 0, visits, 1, NEW.last_used_at)
            ON CONFLICT (api_key_id, generation) DO NOTHING
            RETURNING * INTO latest;
            EXIT WHEN FOUND;
            CONTINUE;
        END IF;
        -- The builds before know the length of the window unless a later one has begun another.
        IF TG_OP = 'UPDATE' AND latest.started_at = OLD.started_at THEN
            is_running := NEW.started_at = OLD.started_at;
        ELSE
            is_running := coalesce(abs(NEW.last_used_at - latest.started_at) < latest.window_ms, FALSE);
        END IF;
        IF latest.writes < 32 THEN
            UPDATE rate_counts SET
                started_at = CASE WHEN is_running THEN started_at ELSE NEW.started_at END,
                carried = CASE WHEN is_running THEN carried ELSE 0 END,
                counted = CASE WHEN is_running THEN counted + visits ELSE visits END,
                writes = writes + 1,
                last_used_at = greatest(last_used_at, NEW.last_used_at)
            WHERE api_key_id = latest.api_key_id AND generation = latest.generation
            RETURNING * INTO latest;
            EXIT;
        END IF;
        INSERT INTO rate_counts (api_key_id, generation, begun_at, started_at, window_ms, carried,
            counted, writes, last_used_at)
        VALUES (NEW.api_key_id, latest.generation + 1, NEW.last_used_at,
            CASE WHEN is_running THEN latest.started_at ELSE NEW.started_at END, latest.window_ms,
            CASE WHEN is_running THEN latest.carried + latest.counted ELSE 0 END,
            visits, 1, NEW.last_used_at)
        ON CONFLICT (api_key_id, generation) DO NOTHING
        RETURNING * INTO latest;
        EXIT WHEN FOUND;
    END LOOP;
    NEW.count := latest.carried + latest.counted;
    NEW.started_at := latest.started_at;
    RETURN NEW;
END
$$;

CREATE TRIGGER rate_windows_counted BEFORE INSERT OR UPDATE ON rate_windows
    FOR EACH ROW EXECUTE FUNCTION count_rate_window();

-- Windows that run at this moment go on: one row for each key, while nobody counts.
INSERT INTO rate_counts (api_key_id, generation, begun_at, started_at, carried, counted, writes,
    last_used_at)
SELECT api_key_id, 0, last_used_at, started_at, 0, count, 1, last_used_at FROM rate_windows;
