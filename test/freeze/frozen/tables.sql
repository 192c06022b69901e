-- books, SQLite, 1

CREATE TABLE meta (name TEXT PRIMARY KEY, value INTEGER NOT NULL) STRICT, WITHOUT ROWID;
INSERT INTO meta (name, value) VALUES ('policy_version', 0);

-- Every text that repeats, once. Some are JSON: caller [key, path, tags], target [provider, deployment, model], accounts [account, …].
CREATE TABLE names (id INTEGER PRIMARY KEY, kind TEXT NOT NULL, text TEXT NOT NULL, UNIQUE (kind, text)) STRICT;
CREATE TABLE prices (id INTEGER PRIMARY KEY, ref TEXT NOT NULL UNIQUE, provider TEXT NOT NULL, model TEXT NOT NULL,
  rule TEXT NOT NULL, source TEXT NOT NULL, added_at INTEGER NOT NULL) STRICT;

-- declared: the entry comes from the config of a gateway.
CREATE TABLE keys (id TEXT PRIMARY KEY, name TEXT NOT NULL, kind TEXT NOT NULL, path TEXT NOT NULL, tags TEXT NOT NULL,
  scopes TEXT NOT NULL, expires_at INTEGER, revoked_at INTEGER, cut INTEGER NOT NULL, declared INTEGER NOT NULL,
  created_at INTEGER NOT NULL, created_by TEXT NOT NULL, version INTEGER NOT NULL) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX key_name ON keys (name, declared) WHERE revoked_at IS NULL;
CREATE TABLE key_digests (digest BLOB PRIMARY KEY, key TEXT NOT NULL REFERENCES keys (id) ON DELETE CASCADE, hint TEXT, until INTEGER) STRICT, WITHOUT ROWID;
CREATE TABLE budgets (id TEXT PRIMARY KEY, name TEXT NOT NULL, on_kind TEXT NOT NULL, on_what TEXT NOT NULL,
  every TEXT NOT NULL, zone TEXT NOT NULL, limit_nano INTEGER NOT NULL CHECK (limit_nano >= 0), mode TEXT NOT NULL,
  on_empty TEXT NOT NULL, alerts TEXT NOT NULL, declared INTEGER NOT NULL, deleted_at INTEGER, version INTEGER NOT NULL) STRICT, WITHOUT ROWID;
CREATE TABLE rates (id TEXT PRIMARY KEY, name TEXT NOT NULL, on_kind TEXT NOT NULL, on_what TEXT NOT NULL,
  limits TEXT NOT NULL, burst TEXT, declared INTEGER NOT NULL, deleted_at INTEGER, version INTEGER NOT NULL) STRICT, WITHOUT ROWID;

-- One window of a budget. granted: drawn by nodes, and neither booked nor returned.
CREATE TABLE accounts (account TEXT PRIMARY KEY, budget TEXT NOT NULL, starts_at INTEGER NOT NULL, ends_at INTEGER,
  spent INTEGER NOT NULL DEFAULT 0, assumed INTEGER NOT NULL DEFAULT 0, overrun INTEGER NOT NULL DEFAULT 0,
  granted INTEGER NOT NULL DEFAULT 0, alerted INTEGER NOT NULL DEFAULT 0) STRICT, WITHOUT ROWID;
CREATE TABLE grants (account TEXT NOT NULL, node TEXT NOT NULL, amount INTEGER NOT NULL, PRIMARY KEY (account, node)) STRICT, WITHOUT ROWID;
CREATE TABLE assumptions (id INTEGER PRIMARY KEY, at INTEGER NOT NULL, account TEXT NOT NULL, amount INTEGER NOT NULL, why TEXT NOT NULL) STRICT;
CREATE TABLE rate_levels (account TEXT PRIMARY KEY, level REAL NOT NULL, at INTEGER NOT NULL) STRICT, WITHOUT ROWID;
CREATE TABLE margins (target TEXT PRIMARY KEY, tokens INTEGER NOT NULL, at INTEGER NOT NULL) STRICT, WITHOUT ROWID;

-- number: the time of the commit, see numbers.ts, so that rows lie in the order of their commits.
-- caller, model, format, client, target, tier, error, finish, accounts: names; price: prices. Counts and cost: all attempts together.
CREATE TABLE calls (number INTEGER PRIMARY KEY, request BLOB NOT NULL, at INTEGER NOT NULL, caller INTEGER NOT NULL, session BLOB,
  model INTEGER NOT NULL, format INTEGER NOT NULL, client INTEGER, flags INTEGER NOT NULL, status INTEGER NOT NULL, outcome INTEGER NOT NULL,
  refused INTEGER NOT NULL, error INTEGER, finish INTEGER, ms INTEGER NOT NULL, head_ms INTEGER, first_ms INTEGER, own_us INTEGER,
  tries INTEGER NOT NULL, attempt_ms INTEGER, target INTEGER, tier INTEGER, input INTEGER NOT NULL, cache_read INTEGER NOT NULL, cache_write INTEGER NOT NULL,
  cache_write_1h INTEGER NOT NULL, output INTEGER NOT NULL, reasoning INTEGER NOT NULL, cost INTEGER NOT NULL, held INTEGER NOT NULL,
  state INTEGER, price INTEGER, accounts INTEGER, detail TEXT) STRICT;
CREATE INDEX calls_caller ON calls (caller);
CREATE INDEX calls_failed ON calls (number) WHERE outcome <> 0;
-- The attempts of calls with more than one.
CREATE TABLE charges (number INTEGER NOT NULL, n INTEGER NOT NULL, target INTEGER NOT NULL, class TEXT NOT NULL, ms INTEGER NOT NULL,
  usage TEXT NOT NULL, cost INTEGER NOT NULL, held INTEGER NOT NULL, state INTEGER NOT NULL, price INTEGER, doubt TEXT,
  accounts INTEGER, PRIMARY KEY (number, n)) STRICT, WITHOUT ROWID;
-- What calls that were deleted had been charged, by the accounts they were charged to.
CREATE TABLE deleted_charges (accounts INTEGER PRIMARY KEY, spent INTEGER NOT NULL, assumed INTEGER NOT NULL,
  overrun INTEGER NOT NULL) STRICT;

-- target 0: the call reached no provider.
CREATE TABLE use_hour (hour INTEGER NOT NULL, caller INTEGER NOT NULL, target INTEGER NOT NULL, calls INTEGER NOT NULL DEFAULT 0, failed INTEGER NOT NULL DEFAULT 0, refused INTEGER NOT NULL DEFAULT 0, attempts INTEGER NOT NULL DEFAULT 0, input INTEGER NOT NULL DEFAULT 0, cache_read INTEGER NOT NULL DEFAULT 0, cache_write INTEGER NOT NULL DEFAULT 0, cache_write_1h INTEGER NOT NULL DEFAULT 0, output INTEGER NOT NULL DEFAULT 0, reasoning INTEGER NOT NULL DEFAULT 0, searches INTEGER NOT NULL DEFAULT 0, cost INTEGER NOT NULL DEFAULT 0, reported INTEGER NOT NULL DEFAULT 0, estimated INTEGER NOT NULL DEFAULT 0, assumed INTEGER NOT NULL DEFAULT 0, untiered INTEGER NOT NULL DEFAULT 0, unpriced INTEGER NOT NULL DEFAULT 0, ms INTEGER NOT NULL DEFAULT 0, first_ms INTEGER NOT NULL DEFAULT 0, PRIMARY KEY (hour, caller, target)) STRICT, WITHOUT ROWID;
CREATE TABLE use_day (day INTEGER NOT NULL, caller INTEGER NOT NULL, target INTEGER NOT NULL, calls INTEGER NOT NULL DEFAULT 0, failed INTEGER NOT NULL DEFAULT 0, refused INTEGER NOT NULL DEFAULT 0, attempts INTEGER NOT NULL DEFAULT 0, input INTEGER NOT NULL DEFAULT 0, cache_read INTEGER NOT NULL DEFAULT 0, cache_write INTEGER NOT NULL DEFAULT 0, cache_write_1h INTEGER NOT NULL DEFAULT 0, output INTEGER NOT NULL DEFAULT 0, reasoning INTEGER NOT NULL DEFAULT 0, searches INTEGER NOT NULL DEFAULT 0, cost INTEGER NOT NULL DEFAULT 0, reported INTEGER NOT NULL DEFAULT 0, estimated INTEGER NOT NULL DEFAULT 0, assumed INTEGER NOT NULL DEFAULT 0, untiered INTEGER NOT NULL DEFAULT 0, unpriced INTEGER NOT NULL DEFAULT 0, ms INTEGER NOT NULL DEFAULT 0, first_ms INTEGER NOT NULL DEFAULT 0, PRIMARY KEY (day, caller, target)) STRICT, WITHOUT ROWID;
CREATE TABLE sessions (session BLOB PRIMARY KEY, caller INTEGER NOT NULL, first_at INTEGER NOT NULL, last_at INTEGER NOT NULL,
  calls INTEGER NOT NULL) STRICT, WITHOUT ROWID;
CREATE INDEX sessions_last ON sessions (last_at);

-- The newest batch of each life of a worker that is in the books.
CREATE TABLE positions (life TEXT PRIMARY KEY, worker INTEGER NOT NULL, seq INTEGER NOT NULL, at INTEGER NOT NULL) STRICT, WITHOUT ROWID;
CREATE TABLE invoices (provider TEXT NOT NULL, month TEXT NOT NULL, amount INTEGER NOT NULL, note TEXT, at INTEGER NOT NULL,
  PRIMARY KEY (provider, month)) STRICT, WITHOUT ROWID;
CREATE TABLE audit (id INTEGER PRIMARY KEY, at INTEGER NOT NULL, actor TEXT NOT NULL, address TEXT, action TEXT NOT NULL, subject TEXT NOT NULL,
  before TEXT, after TEXT) STRICT;

CREATE TRIGGER audit_update BEFORE UPDATE ON audit
  BEGIN SELECT RAISE(ABORT, 'the audit log is append-only'); END;
CREATE TRIGGER audit_delete BEFORE DELETE ON audit
  BEGIN SELECT RAISE(ABORT, 'the audit log is append-only'); END;

-- books, SQLite, 2
SELECT 1;

-- books, SQLite, 3
CREATE INDEX calls_late ON calls (number) WHERE number > (at - 1735689600000 + 120000) * 4096;

-- books, SQLite, 4
CREATE TABLE models (id TEXT PRIMARY KEY, name TEXT NOT NULL, spec TEXT NOT NULL, created_at INTEGER NOT NULL,
  created_by TEXT NOT NULL, deleted_at INTEGER, version INTEGER NOT NULL) STRICT, WITHOUT ROWID;

-- books, SQLite, 5
ALTER TABLE audit ADD COLUMN previous TEXT; ALTER TABLE audit ADD COLUMN hash TEXT;

-- books, SQLite, 6
SELECT 1;

-- books, SQLite, 7
ALTER TABLE keys ADD COLUMN person TEXT;

-- books, PostgreSQL, 1

CREATE TABLE meta (name TEXT PRIMARY KEY, value bigint NOT NULL) ;
INSERT INTO meta (name, value) VALUES ('policy_version', 0);

-- Every text that repeats, once. Some are JSON: caller [key, path, tags], target [provider, deployment, model], accounts [account, …].
CREATE TABLE names (id bigint GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY, kind TEXT NOT NULL, text TEXT NOT NULL, UNIQUE (kind, text)) ;
CREATE TABLE prices (id bigint GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY, ref TEXT NOT NULL UNIQUE, provider TEXT NOT NULL, model TEXT NOT NULL,
  rule TEXT NOT NULL, source TEXT NOT NULL, added_at bigint NOT NULL) ;

-- declared: the entry comes from the config of a gateway.
CREATE TABLE keys (id TEXT PRIMARY KEY, name TEXT NOT NULL, kind TEXT NOT NULL, path TEXT NOT NULL, tags TEXT NOT NULL,
  scopes TEXT NOT NULL, expires_at bigint, revoked_at bigint, cut bigint NOT NULL, declared bigint NOT NULL,
  created_at bigint NOT NULL, created_by TEXT NOT NULL, version bigint NOT NULL) ;
CREATE UNIQUE INDEX key_name ON keys (name, declared) WHERE revoked_at IS NULL;
CREATE TABLE key_digests (digest bytea PRIMARY KEY, key TEXT NOT NULL REFERENCES keys (id) ON DELETE CASCADE, hint TEXT, until bigint) ;
CREATE TABLE budgets (id TEXT PRIMARY KEY, name TEXT NOT NULL, on_kind TEXT NOT NULL, on_what TEXT NOT NULL,
  every TEXT NOT NULL, zone TEXT NOT NULL, limit_nano bigint NOT NULL CHECK (limit_nano >= 0), mode TEXT NOT NULL,
  on_empty TEXT NOT NULL, alerts TEXT NOT NULL, declared bigint NOT NULL, deleted_at bigint, version bigint NOT NULL) ;
CREATE TABLE rates (id TEXT PRIMARY KEY, name TEXT NOT NULL, on_kind TEXT NOT NULL, on_what TEXT NOT NULL,
  limits TEXT NOT NULL, burst TEXT, declared bigint NOT NULL, deleted_at bigint, version bigint NOT NULL) ;

-- One window of a budget. granted: drawn by nodes, and neither booked nor returned.
CREATE TABLE accounts (account TEXT PRIMARY KEY, budget TEXT NOT NULL, starts_at bigint NOT NULL, ends_at bigint,
  spent bigint NOT NULL DEFAULT 0, assumed bigint NOT NULL DEFAULT 0, overrun bigint NOT NULL DEFAULT 0,
  granted bigint NOT NULL DEFAULT 0, alerted bigint NOT NULL DEFAULT 0) ;
CREATE TABLE grants (account TEXT NOT NULL, node TEXT NOT NULL, amount bigint NOT NULL, PRIMARY KEY (account, node)) ;
CREATE TABLE assumptions (id bigint GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY, at bigint NOT NULL, account TEXT NOT NULL, amount bigint NOT NULL, why TEXT NOT NULL) ;
CREATE TABLE rate_levels (account TEXT PRIMARY KEY, level double precision NOT NULL, at bigint NOT NULL) ;
CREATE TABLE margins (target TEXT PRIMARY KEY, tokens bigint NOT NULL, at bigint NOT NULL) ;

-- number: the time of the commit, see numbers.ts, so that rows lie in the order of their commits.
-- caller, model, format, client, target, tier, error, finish, accounts: names; price: prices. Counts and cost: all attempts together.
CREATE TABLE calls (number bigint PRIMARY KEY, request bytea NOT NULL, at bigint NOT NULL, caller bigint NOT NULL, session bytea,
  model bigint NOT NULL, format bigint NOT NULL, client bigint, flags bigint NOT NULL, status bigint NOT NULL, outcome bigint NOT NULL,
  refused bigint NOT NULL, error bigint, finish bigint, ms bigint NOT NULL, head_ms bigint, first_ms bigint, own_us bigint,
  tries bigint NOT NULL, attempt_ms bigint, target bigint, tier bigint, input bigint NOT NULL, cache_read bigint NOT NULL, cache_write bigint NOT NULL,
  cache_write_1h bigint NOT NULL, output bigint NOT NULL, reasoning bigint NOT NULL, cost bigint NOT NULL, held bigint NOT NULL,
  state bigint, price bigint, accounts bigint, detail TEXT) PARTITION BY RANGE (number);
CREATE INDEX calls_caller ON calls (caller, number);
CREATE INDEX calls_failed ON calls (number) WHERE outcome <> 0;
-- The attempts of calls with more than one.
CREATE TABLE charges (number bigint NOT NULL, n bigint NOT NULL, target bigint NOT NULL, class TEXT NOT NULL, ms bigint NOT NULL,
  usage TEXT NOT NULL, cost bigint NOT NULL, held bigint NOT NULL, state bigint NOT NULL, price bigint, doubt TEXT,
  accounts bigint, PRIMARY KEY (number, n)) ;
-- What calls that were deleted had been charged, by the accounts they were charged to.
CREATE TABLE deleted_charges (accounts bigint PRIMARY KEY, spent bigint NOT NULL, assumed bigint NOT NULL,
  overrun bigint NOT NULL) ;

-- target 0: the call reached no provider.
CREATE TABLE use_hour (hour bigint NOT NULL, caller bigint NOT NULL, target bigint NOT NULL, calls bigint NOT NULL DEFAULT 0, failed bigint NOT NULL DEFAULT 0, refused bigint NOT NULL DEFAULT 0, attempts bigint NOT NULL DEFAULT 0, input bigint NOT NULL DEFAULT 0, cache_read bigint NOT NULL DEFAULT 0, cache_write bigint NOT NULL DEFAULT 0, cache_write_1h bigint NOT NULL DEFAULT 0, output bigint NOT NULL DEFAULT 0, reasoning bigint NOT NULL DEFAULT 0, searches bigint NOT NULL DEFAULT 0, cost bigint NOT NULL DEFAULT 0, reported bigint NOT NULL DEFAULT 0, estimated bigint NOT NULL DEFAULT 0, assumed bigint NOT NULL DEFAULT 0, untiered bigint NOT NULL DEFAULT 0, unpriced bigint NOT NULL DEFAULT 0, ms bigint NOT NULL DEFAULT 0, first_ms bigint NOT NULL DEFAULT 0, PRIMARY KEY (hour, caller, target)) ;
CREATE TABLE use_day (day bigint NOT NULL, caller bigint NOT NULL, target bigint NOT NULL, calls bigint NOT NULL DEFAULT 0, failed bigint NOT NULL DEFAULT 0, refused bigint NOT NULL DEFAULT 0, attempts bigint NOT NULL DEFAULT 0, input bigint NOT NULL DEFAULT 0, cache_read bigint NOT NULL DEFAULT 0, cache_write bigint NOT NULL DEFAULT 0, cache_write_1h bigint NOT NULL DEFAULT 0, output bigint NOT NULL DEFAULT 0, reasoning bigint NOT NULL DEFAULT 0, searches bigint NOT NULL DEFAULT 0, cost bigint NOT NULL DEFAULT 0, reported bigint NOT NULL DEFAULT 0, estimated bigint NOT NULL DEFAULT 0, assumed bigint NOT NULL DEFAULT 0, untiered bigint NOT NULL DEFAULT 0, unpriced bigint NOT NULL DEFAULT 0, ms bigint NOT NULL DEFAULT 0, first_ms bigint NOT NULL DEFAULT 0, PRIMARY KEY (day, caller, target)) ;
CREATE TABLE sessions (session bytea PRIMARY KEY, caller bigint NOT NULL, first_at bigint NOT NULL, last_at bigint NOT NULL,
  calls bigint NOT NULL) ;
CREATE INDEX sessions_last ON sessions (last_at);

-- The newest batch of each life of a worker that is in the books.
CREATE TABLE positions (life TEXT PRIMARY KEY, worker bigint NOT NULL, seq bigint NOT NULL, at bigint NOT NULL) ;
CREATE TABLE invoices (provider TEXT NOT NULL, month TEXT NOT NULL, amount bigint NOT NULL, note TEXT, at bigint NOT NULL,
  PRIMARY KEY (provider, month)) ;
CREATE TABLE audit (id bigint GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY, at bigint NOT NULL, actor TEXT NOT NULL, address TEXT, action TEXT NOT NULL, subject TEXT NOT NULL,
  before TEXT, after TEXT) ;

CREATE FUNCTION refuse_audit_change() RETURNS trigger LANGUAGE plpgsql AS
  $$ BEGIN RAISE EXCEPTION 'the audit log is append-only'; END $$;
CREATE TRIGGER audit_rows BEFORE UPDATE OR DELETE ON audit FOR EACH ROW EXECUTE FUNCTION refuse_audit_change();
CREATE TRIGGER audit_whole BEFORE TRUNCATE ON audit FOR EACH STATEMENT EXECUTE FUNCTION refuse_audit_change();

-- books, PostgreSQL, 2
SELECT 1;

-- books, PostgreSQL, 3
CREATE INDEX calls_late ON calls (number) WHERE number > (at - 1735689600000 + 120000) * 4096;

-- books, PostgreSQL, 4
CREATE TABLE models (id TEXT PRIMARY KEY, name TEXT NOT NULL, spec TEXT NOT NULL, created_at bigint NOT NULL,
  created_by TEXT NOT NULL, deleted_at bigint, version bigint NOT NULL) ;

-- books, PostgreSQL, 5
ALTER TABLE audit ADD COLUMN previous TEXT; ALTER TABLE audit ADD COLUMN hash TEXT;

-- books, PostgreSQL, 6
SELECT 1;

-- books, PostgreSQL, 7
ALTER TABLE keys ADD COLUMN person TEXT;

-- console, sqlite, 1

-- Browsers that are signed in. hash: of the secret in the cookie. key_hash: of the key that it signed in with; none for a link.
CREATE TABLE console_sessions (hash TEXT PRIMARY KEY, key_hash TEXT, until_at INTEGER NOT NULL) STRICT, WITHOUT ROWID;


-- console, postgres, 1

-- Browsers that are signed in. hash: of the secret in the cookie. key_hash: of the key that it signed in with; none for a link.
CREATE TABLE console_sessions (hash TEXT PRIMARY KEY, key_hash TEXT, until_at bigint NOT NULL) ;


-- proof, sqlite, 1

-- One row. number: the newest call that is in the sums. at, full_at: of the last proof and of the last one of all rows; calls:
-- proven between them. log_entries, log_id, log_hash: of the audit log. report: JSON, of the proof of all rows.
CREATE TABLE proof (id INTEGER PRIMARY KEY, number INTEGER NOT NULL, at INTEGER NOT NULL, calls INTEGER NOT NULL, ms INTEGER NOT NULL, full_at INTEGER NOT NULL,
  full_ms INTEGER NOT NULL, log_entries INTEGER NOT NULL, log_id INTEGER NOT NULL, log_hash TEXT, report TEXT NOT NULL) STRICT, WITHOUT ROWID;
CREATE TABLE proof_hours (hour INTEGER PRIMARY KEY, calls INTEGER NOT NULL, failed INTEGER NOT NULL, refused INTEGER NOT NULL, attempts INTEGER NOT NULL, input INTEGER NOT NULL, cache_read INTEGER NOT NULL, cache_write INTEGER NOT NULL, cache_write_1h INTEGER NOT NULL, output INTEGER NOT NULL, reasoning INTEGER NOT NULL, cost INTEGER NOT NULL, ms INTEGER NOT NULL, first_ms INTEGER NOT NULL, reported INTEGER NOT NULL, estimated INTEGER NOT NULL, assumed INTEGER NOT NULL, unpriced INTEGER NOT NULL) STRICT, WITHOUT ROWID;
CREATE TABLE proof_accounts (account TEXT PRIMARY KEY, spent INTEGER NOT NULL, assumed INTEGER NOT NULL, overrun INTEGER NOT NULL) STRICT, WITHOUT ROWID;


-- proof, postgres, 1

-- One row. number: the newest call that is in the sums. at, full_at: of the last proof and of the last one of all rows; calls:
-- proven between them. log_entries, log_id, log_hash: of the audit log. report: JSON, of the proof of all rows.
CREATE TABLE proof (id bigint PRIMARY KEY, number bigint NOT NULL, at bigint NOT NULL, calls bigint NOT NULL, ms bigint NOT NULL, full_at bigint NOT NULL,
  full_ms bigint NOT NULL, log_entries bigint NOT NULL, log_id bigint NOT NULL, log_hash TEXT, report TEXT NOT NULL) ;
CREATE TABLE proof_hours (hour bigint PRIMARY KEY, calls bigint NOT NULL, failed bigint NOT NULL, refused bigint NOT NULL, attempts bigint NOT NULL, input bigint NOT NULL, cache_read bigint NOT NULL, cache_write bigint NOT NULL, cache_write_1h bigint NOT NULL, output bigint NOT NULL, reasoning bigint NOT NULL, cost bigint NOT NULL, ms bigint NOT NULL, first_ms bigint NOT NULL, reported bigint NOT NULL, estimated bigint NOT NULL, assumed bigint NOT NULL, unpriced bigint NOT NULL) ;
CREATE TABLE proof_accounts (account TEXT PRIMARY KEY, spent bigint NOT NULL, assumed bigint NOT NULL, overrun bigint NOT NULL) ;


-- alerts, sqlite, 1

-- One alert for one webhook. webhook: from a hash of its address. place: the origin of the address. node: the machine that sends.
-- result: 'waiting', 'delivered', 'failed'. ended_at: when what began was over; 0: its end cannot be known any more.
CREATE TABLE alert_deliveries (id TEXT NOT NULL, webhook TEXT NOT NULL, place TEXT NOT NULL, node TEXT NOT NULL, at INTEGER NOT NULL,
  event TEXT NOT NULL, subject TEXT NOT NULL, state TEXT NOT NULL, message TEXT NOT NULL, result TEXT NOT NULL, reason TEXT,
  tries INTEGER NOT NULL, tried_at INTEGER NOT NULL, ended_at INTEGER, PRIMARY KEY (id, webhook)) STRICT, WITHOUT ROWID;
CREATE INDEX alert_deliveries_at ON alert_deliveries (at);


-- alerts, postgres, 1

-- One alert for one webhook. webhook: from a hash of its address. place: the origin of the address. node: the machine that sends.
-- result: 'waiting', 'delivered', 'failed'. ended_at: when what began was over; 0: its end cannot be known any more.
CREATE TABLE alert_deliveries (id TEXT NOT NULL, webhook TEXT NOT NULL, place TEXT NOT NULL, node TEXT NOT NULL, at bigint NOT NULL,
  event TEXT NOT NULL, subject TEXT NOT NULL, state TEXT NOT NULL, message TEXT NOT NULL, result TEXT NOT NULL, reason TEXT,
  tries bigint NOT NULL, tried_at bigint NOT NULL, ended_at bigint, PRIMARY KEY (id, webhook)) ;
CREATE INDEX alert_deliveries_at ON alert_deliveries (at);


-- batches, sqlite, 1

-- The lines and results of all batches of a store are sealed with keys that are derived from it: 32 bytes as base64url.
CREATE TABLE batches_secret (id TEXT PRIMARY KEY, secret TEXT NOT NULL) STRICT, WITHOUT ROWID;
-- created, ended, lease: milliseconds since 1970. fence: number of the runner, the last one counts. node: who has the lease until
-- the time of lease. batch: the rest, as JSON.
CREATE TABLE batches (id TEXT PRIMARY KEY, path TEXT NOT NULL, key_id TEXT, person TEXT, created INTEGER NOT NULL, ended INTEGER,
  fence INTEGER NOT NULL, node TEXT NOT NULL, lease INTEGER NOT NULL, batch TEXT NOT NULL) STRICT, WITHOUT ROWID;
CREATE INDEX batches_created ON batches (created, id);
CREATE INDEX batches_open ON batches (ended, lease);


-- batches, sqlite, 2

-- Calls of the lines of batches that have not ended. attempt: from 1. usage: tokens as JSON.
CREATE TABLE batches_calls (number INTEGER PRIMARY KEY, batch TEXT NOT NULL, line INTEGER NOT NULL, attempt INTEGER NOT NULL,
  cost INTEGER NOT NULL, usage TEXT NOT NULL) STRICT, WITHOUT ROWID;
CREATE INDEX batches_calls_batch ON batches_calls (batch);


-- batches, sqlite, 3

-- id: of the batch, which ends once. ended, due: milliseconds since 1970. tries: requests that have begun.
CREATE TABLE batches_events (id TEXT PRIMARY KEY, type TEXT NOT NULL, ended INTEGER NOT NULL, tries INTEGER NOT NULL,
  due INTEGER NOT NULL) STRICT, WITHOUT ROWID;


-- batches, postgres, 1

-- The lines and results of all batches of a store are sealed with keys that are derived from it: 32 bytes as base64url.
CREATE TABLE batches_secret (id TEXT PRIMARY KEY, secret TEXT NOT NULL) ;
-- created, ended, lease: milliseconds since 1970. fence: number of the runner, the last one counts. node: who has the lease until
-- the time of lease. batch: the rest, as JSON.
CREATE TABLE batches (id TEXT PRIMARY KEY, path TEXT NOT NULL, key_id TEXT, person TEXT, created bigint NOT NULL, ended bigint,
  fence bigint NOT NULL, node TEXT NOT NULL, lease bigint NOT NULL, batch TEXT NOT NULL) ;
CREATE INDEX batches_created ON batches (created, id);
CREATE INDEX batches_open ON batches (ended, lease);


-- batches, postgres, 2

-- Calls of the lines of batches that have not ended. attempt: from 1. usage: tokens as JSON.
CREATE TABLE batches_calls (number bigint PRIMARY KEY, batch TEXT NOT NULL, line bigint NOT NULL, attempt bigint NOT NULL,
  cost bigint NOT NULL, usage TEXT NOT NULL) ;
CREATE INDEX batches_calls_batch ON batches_calls (batch);


-- batches, postgres, 3

-- id: of the batch, which ends once. ended, due: milliseconds since 1970. tries: requests that have begun.
CREATE TABLE batches_events (id TEXT PRIMARY KEY, type TEXT NOT NULL, ended bigint NOT NULL, tries bigint NOT NULL,
  due bigint NOT NULL) ;


-- capture, sqlite, 1

-- kind, what: a session by its hash, a key by its id, or a path. path: where it lies. ends: milliseconds since 1970, as created.
CREATE TABLE capture_rules (id TEXT PRIMARY KEY, kind TEXT NOT NULL, what TEXT NOT NULL, path TEXT NOT NULL, actor TEXT NOT NULL,
  created INTEGER NOT NULL, ends INTEGER NOT NULL, version INTEGER NOT NULL, deleted_at INTEGER) STRICT, WITHOUT ROWID;
CREATE INDEX capture_rules_version ON capture_rules (version);


-- capture, postgres, 1

-- kind, what: a session by its hash, a key by its id, or a path. path: where it lies. ends: milliseconds since 1970, as created.
CREATE TABLE capture_rules (id TEXT PRIMARY KEY, kind TEXT NOT NULL, what TEXT NOT NULL, path TEXT NOT NULL, actor TEXT NOT NULL,
  created bigint NOT NULL, ends bigint NOT NULL, version bigint NOT NULL, deleted_at bigint) ;
CREATE INDEX capture_rules_version ON capture_rules (version);


-- files, sqlite, 1

-- A file. id: the time first. path, key, person: to whom it belongs. kept_in: the place of its bytes. held: how many rows of file_holds
-- it has. Times: milliseconds since 1970.
CREATE TABLE files (id TEXT PRIMARY KEY, path TEXT NOT NULL, key TEXT, person TEXT, name TEXT NOT NULL, purpose TEXT NOT NULL,
  bytes INTEGER NOT NULL, sha256 TEXT NOT NULL, mime TEXT NOT NULL, created INTEGER NOT NULL, expires INTEGER, kept_in TEXT NOT NULL,
  held INTEGER NOT NULL) STRICT, WITHOUT ROWID;
CREATE INDEX files_path ON files (path, id);
CREATE INDEX files_expires ON files (expires);
-- Why a file cannot be deleted and does not expire. holder: what holds it.
CREATE TABLE file_holds (file TEXT NOT NULL, holder TEXT NOT NULL, PRIMARY KEY (file, holder)) STRICT, WITHOUT ROWID;
-- One row for each path with files. sealed: the key of their bytes. used: bytes of its files and of the parts of its uploads.
CREATE TABLE file_paths (path TEXT PRIMARY KEY, sealed TEXT NOT NULL, used INTEGER NOT NULL) STRICT, WITHOUT ROWID;
-- A file that comes in parts. kind: 'parts' (OpenAI), 'resumable' (Google). bytes: how long it will be; -1: unknown. facts: JSON of
-- what the file will have. state: 'pending', 'completed', 'cancelled'. file: what it became. received: bytes of its parts.
CREATE TABLE file_uploads (id TEXT PRIMARY KEY, path TEXT NOT NULL, key TEXT, person TEXT, kind TEXT NOT NULL, bytes INTEGER NOT NULL,
  facts TEXT NOT NULL, state TEXT NOT NULL, file TEXT, received INTEGER NOT NULL, created INTEGER NOT NULL,
  expires INTEGER NOT NULL) STRICT, WITHOUT ROWID;
CREATE INDEX file_uploads_expires ON file_uploads (expires);
CREATE TABLE file_parts (id TEXT PRIMARY KEY, upload TEXT NOT NULL, bytes INTEGER NOT NULL, kept_in TEXT NOT NULL,
  created INTEGER NOT NULL) STRICT, WITHOUT ROWID;
CREATE INDEX file_parts_upload ON file_parts (upload, id);


-- files, postgres, 1

-- A file. id: the time first. path, key, person: to whom it belongs. kept_in: the place of its bytes. held: how many rows of file_holds
-- it has. Times: milliseconds since 1970.
CREATE TABLE files (id TEXT PRIMARY KEY, path TEXT NOT NULL, key TEXT, person TEXT, name TEXT NOT NULL, purpose TEXT NOT NULL,
  bytes bigint NOT NULL, sha256 TEXT NOT NULL, mime TEXT NOT NULL, created bigint NOT NULL, expires bigint, kept_in TEXT NOT NULL,
  held bigint NOT NULL) ;
CREATE INDEX files_path ON files (path, id);
CREATE INDEX files_expires ON files (expires);
-- Why a file cannot be deleted and does not expire. holder: what holds it.
CREATE TABLE file_holds (file TEXT NOT NULL, holder TEXT NOT NULL, PRIMARY KEY (file, holder)) ;
-- One row for each path with files. sealed: the key of their bytes. used: bytes of its files and of the parts of its uploads.
CREATE TABLE file_paths (path TEXT PRIMARY KEY, sealed TEXT NOT NULL, used bigint NOT NULL) ;
-- A file that comes in parts. kind: 'parts' (OpenAI), 'resumable' (Google). bytes: how long it will be; -1: unknown. facts: JSON of
-- what the file will have. state: 'pending', 'completed', 'cancelled'. file: what it became. received: bytes of its parts.
CREATE TABLE file_uploads (id TEXT PRIMARY KEY, path TEXT NOT NULL, key TEXT, person TEXT, kind TEXT NOT NULL, bytes bigint NOT NULL,
  facts TEXT NOT NULL, state TEXT NOT NULL, file TEXT, received bigint NOT NULL, created bigint NOT NULL,
  expires bigint NOT NULL) ;
CREATE INDEX file_uploads_expires ON file_uploads (expires);
CREATE TABLE file_parts (id TEXT PRIMARY KEY, upload TEXT NOT NULL, bytes bigint NOT NULL, kept_in TEXT NOT NULL,
  created bigint NOT NULL) ;
CREATE INDEX file_parts_upload ON file_parts (upload, id);


-- guards, sqlite, 1

-- The tokens of all gateways of a store are derived from it: 32 bytes as base64url.
CREATE TABLE guards_secret (id TEXT PRIMARY KEY, secret TEXT NOT NULL) STRICT, WITHOUT ROWID;


-- guards, sqlite, 2

-- Verdicts of guards by hour. phase: input, output.
CREATE TABLE guards_hours (hour INTEGER NOT NULL, guard TEXT NOT NULL, phase TEXT NOT NULL, verdict TEXT NOT NULL,
  calls INTEGER NOT NULL, PRIMARY KEY (hour, guard, phase, verdict)) STRICT, WITHOUT ROWID;
-- Texts in front of guards that weir cannot read, by kind.
CREATE TABLE guards_unread (hour INTEGER NOT NULL, guard TEXT NOT NULL, kind TEXT NOT NULL, texts INTEGER NOT NULL,
  PRIMARY KEY (hour, guard, kind)) STRICT, WITHOUT ROWID;
-- number: of the call that a guard has blocked. place: path of the text. kinds: of the values, with spaces between.
CREATE TABLE guards_blocked (number INTEGER PRIMARY KEY, id TEXT NOT NULL, at INTEGER NOT NULL, caller INTEGER NOT NULL,
  guard TEXT NOT NULL, phase TEXT NOT NULL, place TEXT NOT NULL, kinds TEXT NOT NULL) STRICT, WITHOUT ROWID;


-- guards, postgres, 1

-- The tokens of all gateways of a store are derived from it: 32 bytes as base64url.
CREATE TABLE guards_secret (id TEXT PRIMARY KEY, secret TEXT NOT NULL) ;


-- guards, postgres, 2

-- Verdicts of guards by hour. phase: input, output.
CREATE TABLE guards_hours (hour bigint NOT NULL, guard TEXT NOT NULL, phase TEXT NOT NULL, verdict TEXT NOT NULL,
  calls bigint NOT NULL, PRIMARY KEY (hour, guard, phase, verdict)) ;
-- Texts in front of guards that weir cannot read, by kind.
CREATE TABLE guards_unread (hour bigint NOT NULL, guard TEXT NOT NULL, kind TEXT NOT NULL, texts bigint NOT NULL,
  PRIMARY KEY (hour, guard, kind)) ;
-- number: of the call that a guard has blocked. place: path of the text. kinds: of the values, with spaces between.
CREATE TABLE guards_blocked (number bigint PRIMARY KEY, id TEXT NOT NULL, at bigint NOT NULL, caller bigint NOT NULL,
  guard TEXT NOT NULL, phase TEXT NOT NULL, place TEXT NOT NULL, kinds TEXT NOT NULL) ;


-- identity, sqlite, 1

-- People and workloads that weir has seen, or that an operator has named. name, email: empty after they were forgotten.
CREATE TABLE identity_people (id TEXT PRIMARY KEY, issuer TEXT NOT NULL, subject TEXT NOT NULL, name TEXT NOT NULL, email TEXT,
  email_verified INTEGER NOT NULL, path TEXT NOT NULL, source TEXT NOT NULL, created INTEGER NOT NULL, seen INTEGER NOT NULL) STRICT, WITHOUT ROWID;
-- What every worker must know: of people whom their tokens alone do not describe, and of tokens that were revoked.
CREATE TABLE identity_access (id TEXT PRIMARY KEY, status TEXT NOT NULL, path TEXT, grants TEXT NOT NULL, not_before INTEGER NOT NULL,
  cut INTEGER NOT NULL, version INTEGER NOT NULL, deleted_at INTEGER) STRICT, WITHOUT ROWID;
CREATE INDEX identity_access_version ON identity_access (version);


-- identity, sqlite, 2

-- People who are signed in. hash: of the secret in the cookie. sid: the session's name at the provider.
CREATE TABLE identity_sessions (hash TEXT PRIMARY KEY, person TEXT NOT NULL, provider TEXT NOT NULL, sid TEXT, created INTEGER NOT NULL,
  until_at INTEGER NOT NULL, address TEXT NOT NULL) STRICT, WITHOUT ROWID;
CREATE INDEX identity_sessions_person ON identity_sessions (person);


-- identity, sqlite, 3

-- Devices that wait for a person. hash: of the device code. state: open, granted, spent or denied. family: once it is spent.
CREATE TABLE identity_devices (hash TEXT PRIMARY KEY, user_code TEXT NOT NULL UNIQUE, client TEXT NOT NULL, scope TEXT NOT NULL,
  state TEXT NOT NULL, person TEXT, provider TEXT, family TEXT, address TEXT NOT NULL, created INTEGER NOT NULL, until_at INTEGER NOT NULL) STRICT, WITHOUT ROWID;
-- Tokens that follow from one approval. audience: of their access tokens. reason: why they were revoked.
CREATE TABLE identity_families (id TEXT PRIMARY KEY, person TEXT NOT NULL, provider TEXT NOT NULL, client TEXT NOT NULL, scope TEXT NOT NULL,
  audience TEXT NOT NULL, created INTEGER NOT NULL, revoked INTEGER, reason TEXT) STRICT, WITHOUT ROWID;
CREATE INDEX identity_families_person ON identity_families (person);
-- hash: of the refresh token. used_at: when it was exchanged for the next one.
CREATE TABLE identity_refresh (hash TEXT PRIMARY KEY, family TEXT NOT NULL, created INTEGER NOT NULL, used_at INTEGER, until_at INTEGER NOT NULL) STRICT, WITHOUT ROWID;
CREATE INDEX identity_refresh_family ON identity_refresh (family);
-- hash: of the authorization code. family: once it was exchanged.
CREATE TABLE identity_codes (hash TEXT PRIMARY KEY, client TEXT NOT NULL, redirect TEXT NOT NULL, challenge TEXT NOT NULL, person TEXT NOT NULL,
  provider TEXT NOT NULL, scope TEXT NOT NULL, audience TEXT NOT NULL, until_at INTEGER NOT NULL, family TEXT) STRICT, WITHOUT ROWID;
-- What people have permitted to programs.
CREATE TABLE identity_consents (person TEXT NOT NULL, client TEXT NOT NULL, scope TEXT NOT NULL, until_at INTEGER NOT NULL,
  PRIMARY KEY (person, client)) STRICT, WITHOUT ROWID;


-- identity, sqlite, 4

-- The newest refresh token that a provider gave weir for a person. sealed: the token, by a key that follows from the provider's secret.
-- checked_at: when the provider said last that the person may sign in. claim, claim_until: who asks the provider at this moment.
CREATE TABLE identity_provider_tokens (person TEXT NOT NULL, provider TEXT NOT NULL, sealed TEXT NOT NULL, checked_at INTEGER NOT NULL,
  claim TEXT, claim_until INTEGER NOT NULL, PRIMARY KEY (person, provider)) STRICT, WITHOUT ROWID;


-- identity, sqlite, 5

CREATE TABLE identity_scim_users (id TEXT PRIMARY KEY, person TEXT, user_name TEXT NOT NULL UNIQUE, external_id TEXT UNIQUE,
  name TEXT NOT NULL, display TEXT, email TEXT, emails TEXT NOT NULL, active INTEGER NOT NULL, held INTEGER NOT NULL, document TEXT NOT NULL,
  created INTEGER NOT NULL, changed INTEGER NOT NULL) STRICT, WITHOUT ROWID;
CREATE INDEX identity_scim_users_person ON identity_scim_users (person);
CREATE INDEX identity_scim_users_email ON identity_scim_users (email);
CREATE TABLE identity_scim_groups (id TEXT PRIMARY KEY, name TEXT NOT NULL, external_id TEXT, folded TEXT NOT NULL UNIQUE,
  document TEXT NOT NULL, created INTEGER NOT NULL, changed INTEGER NOT NULL) STRICT, WITHOUT ROWID;
-- member: a user or a group.
CREATE TABLE identity_scim_members (grp TEXT NOT NULL, member TEXT NOT NULL, PRIMARY KEY (grp, member)) STRICT, WITHOUT ROWID;
CREATE INDEX identity_scim_members_member ON identity_scim_members (member);
CREATE INDEX identity_people_email ON identity_people (LOWER(email));


-- identity, sqlite, 6

-- id_token: the sealed ID token of the sign-in, by which the provider knows its own session at a sign-out.
ALTER TABLE identity_sessions ADD COLUMN id_token TEXT;


-- identity, postgres, 1

-- People and workloads that weir has seen, or that an operator has named. name, email: empty after they were forgotten.
CREATE TABLE identity_people (id TEXT PRIMARY KEY, issuer TEXT NOT NULL, subject TEXT NOT NULL, name TEXT NOT NULL, email TEXT,
  email_verified bigint NOT NULL, path TEXT NOT NULL, source TEXT NOT NULL, created bigint NOT NULL, seen bigint NOT NULL) ;
-- What every worker must know: of people whom their tokens alone do not describe, and of tokens that were revoked.
CREATE TABLE identity_access (id TEXT PRIMARY KEY, status TEXT NOT NULL, path TEXT, grants TEXT NOT NULL, not_before bigint NOT NULL,
  cut bigint NOT NULL, version bigint NOT NULL, deleted_at bigint) ;
CREATE INDEX identity_access_version ON identity_access (version);


-- identity, postgres, 2

-- People who are signed in. hash: of the secret in the cookie. sid: the session's name at the provider.
CREATE TABLE identity_sessions (hash TEXT PRIMARY KEY, person TEXT NOT NULL, provider TEXT NOT NULL, sid TEXT, created bigint NOT NULL,
  until_at bigint NOT NULL, address TEXT NOT NULL) ;
CREATE INDEX identity_sessions_person ON identity_sessions (person);


-- identity, postgres, 3

-- Devices that wait for a person. hash: of the device code. state: open, granted, spent or denied. family: once it is spent.
CREATE TABLE identity_devices (hash TEXT PRIMARY KEY, user_code TEXT NOT NULL UNIQUE, client TEXT NOT NULL, scope TEXT NOT NULL,
  state TEXT NOT NULL, person TEXT, provider TEXT, family TEXT, address TEXT NOT NULL, created bigint NOT NULL, until_at bigint NOT NULL) ;
-- Tokens that follow from one approval. audience: of their access tokens. reason: why they were revoked.
CREATE TABLE identity_families (id TEXT PRIMARY KEY, person TEXT NOT NULL, provider TEXT NOT NULL, client TEXT NOT NULL, scope TEXT NOT NULL,
  audience TEXT NOT NULL, created bigint NOT NULL, revoked bigint, reason TEXT) ;
CREATE INDEX identity_families_person ON identity_families (person);
-- hash: of the refresh token. used_at: when it was exchanged for the next one.
CREATE TABLE identity_refresh (hash TEXT PRIMARY KEY, family TEXT NOT NULL, created bigint NOT NULL, used_at bigint, until_at bigint NOT NULL) ;
CREATE INDEX identity_refresh_family ON identity_refresh (family);
-- hash: of the authorization code. family: once it was exchanged.
CREATE TABLE identity_codes (hash TEXT PRIMARY KEY, client TEXT NOT NULL, redirect TEXT NOT NULL, challenge TEXT NOT NULL, person TEXT NOT NULL,
  provider TEXT NOT NULL, scope TEXT NOT NULL, audience TEXT NOT NULL, until_at bigint NOT NULL, family TEXT) ;
-- What people have permitted to programs.
CREATE TABLE identity_consents (person TEXT NOT NULL, client TEXT NOT NULL, scope TEXT NOT NULL, until_at bigint NOT NULL,
  PRIMARY KEY (person, client)) ;


-- identity, postgres, 4

-- The newest refresh token that a provider gave weir for a person. sealed: the token, by a key that follows from the provider's secret.
-- checked_at: when the provider said last that the person may sign in. claim, claim_until: who asks the provider at this moment.
CREATE TABLE identity_provider_tokens (person TEXT NOT NULL, provider TEXT NOT NULL, sealed TEXT NOT NULL, checked_at bigint NOT NULL,
  claim TEXT, claim_until bigint NOT NULL, PRIMARY KEY (person, provider)) ;


-- identity, postgres, 5

CREATE TABLE identity_scim_users (id TEXT PRIMARY KEY, person TEXT, user_name TEXT NOT NULL UNIQUE, external_id TEXT UNIQUE,
  name TEXT NOT NULL, display TEXT, email TEXT, emails TEXT NOT NULL, active bigint NOT NULL, held bigint NOT NULL, document TEXT NOT NULL,
  created bigint NOT NULL, changed bigint NOT NULL) ;
CREATE INDEX identity_scim_users_person ON identity_scim_users (person);
CREATE INDEX identity_scim_users_email ON identity_scim_users (email);
CREATE TABLE identity_scim_groups (id TEXT PRIMARY KEY, name TEXT NOT NULL, external_id TEXT, folded TEXT NOT NULL UNIQUE,
  document TEXT NOT NULL, created bigint NOT NULL, changed bigint NOT NULL) ;
-- member: a user or a group.
CREATE TABLE identity_scim_members (grp TEXT NOT NULL, member TEXT NOT NULL, PRIMARY KEY (grp, member)) ;
CREATE INDEX identity_scim_members_member ON identity_scim_members (member);
CREATE INDEX identity_people_email ON identity_people (LOWER(email));


-- identity, postgres, 6

-- id_token: the sealed ID token of the sign-in, by which the provider knows its own session at a sign-out.
ALTER TABLE identity_sessions ADD COLUMN id_token TEXT;


-- prompt-cache, sqlite, 1

-- The newest prompt of each conversation of a session. sections: 8 bytes for each section; parts: JSON. model, target: names.
CREATE TABLE IF NOT EXISTS prompts (session BLOB NOT NULL, thread INTEGER NOT NULL, model INTEGER NOT NULL, target INTEGER NOT NULL,
  at INTEGER NOT NULL, cached INTEGER NOT NULL, keep_ms INTEGER NOT NULL, head INTEGER NOT NULL, parts TEXT NOT NULL,
  sections BLOB NOT NULL, PRIMARY KEY (session, thread)) STRICT, WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS prompts_at ON prompts (at);
-- number: of the call that read less than the one before it. client: a name, 0 if the call has none.
CREATE TABLE IF NOT EXISTS cache_breaks (number INTEGER PRIMARY KEY, at INTEGER NOT NULL, session BLOB NOT NULL, caller INTEGER NOT NULL,
  client INTEGER NOT NULL, target INTEGER NOT NULL, reason INTEGER NOT NULL, section TEXT, after_ms INTEGER NOT NULL,
  tokens INTEGER NOT NULL, cost INTEGER NOT NULL) STRICT, WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS cache_day (day INTEGER NOT NULL, caller INTEGER NOT NULL, client INTEGER NOT NULL, target INTEGER NOT NULL,
  calls INTEGER NOT NULL, input INTEGER NOT NULL, cache_read INTEGER NOT NULL, cache_write INTEGER NOT NULL, saved INTEGER NOT NULL, breaks INTEGER NOT NULL, lost INTEGER NOT NULL, lost_cost INTEGER NOT NULL, PRIMARY KEY (day, caller, client, target)) STRICT, WITHOUT ROWID;


-- prompt-cache, postgres, 1

-- The newest prompt of each conversation of a session. sections: 8 bytes for each section; parts: JSON. model, target: names.
CREATE TABLE IF NOT EXISTS prompts (session bytea NOT NULL, thread bigint NOT NULL, model bigint NOT NULL, target bigint NOT NULL,
  at bigint NOT NULL, cached bigint NOT NULL, keep_ms bigint NOT NULL, head bigint NOT NULL, parts TEXT NOT NULL,
  sections bytea NOT NULL, PRIMARY KEY (session, thread)) ;
CREATE INDEX IF NOT EXISTS prompts_at ON prompts (at);
-- number: of the call that read less than the one before it. client: a name, 0 if the call has none.
CREATE TABLE IF NOT EXISTS cache_breaks (number bigint PRIMARY KEY, at bigint NOT NULL, session bytea NOT NULL, caller bigint NOT NULL,
  client bigint NOT NULL, target bigint NOT NULL, reason bigint NOT NULL, section TEXT, after_ms bigint NOT NULL,
  tokens bigint NOT NULL, cost bigint NOT NULL) ;
CREATE TABLE IF NOT EXISTS cache_day (day bigint NOT NULL, caller bigint NOT NULL, client bigint NOT NULL, target bigint NOT NULL,
  calls bigint NOT NULL, input bigint NOT NULL, cache_read bigint NOT NULL, cache_write bigint NOT NULL, saved bigint NOT NULL, breaks bigint NOT NULL, lost bigint NOT NULL, lost_cost bigint NOT NULL, PRIMARY KEY (day, caller, client, target)) ;


-- tools, sqlite, 1

-- The approved tools of each server. id: its name. pins: hashes by the names of tools, as JSON.
CREATE TABLE tools_pins (id TEXT PRIMARY KEY, pins TEXT NOT NULL, version INTEGER NOT NULL, deleted_at INTEGER) STRICT, WITHOUT ROWID;
CREATE INDEX tools_pins_version ON tools_pins (version);
-- state: 'approved'; 'new', 'changed' or 'gone' while nobody has approved it; 'seen' where definitions are not pinned. tool: its name as
-- JSON, because a name may have characters that no text of a store has. hash, definition: empty for a tool that is gone.
CREATE TABLE tools_definitions (server TEXT NOT NULL, state TEXT NOT NULL, place INTEGER NOT NULL, tool TEXT NOT NULL, hash TEXT NOT NULL,
  definition TEXT NOT NULL, since INTEGER NOT NULL, PRIMARY KEY (server, state, place)) STRICT, WITHOUT ROWID;


-- tools, sqlite, 2

-- What clients keep for a while is sealed with the key: 32 bytes as base64url.
CREATE TABLE tools_seal (id TEXT PRIMARY KEY, key TEXT NOT NULL) STRICT, WITHOUT ROWID;


-- tools, sqlite, 3

-- hash: 16 hexadecimal digits. tools: [name, bytes, 1 if the vendor runs it] of each, as JSON. until: calls with smaller numbers may have it.
CREATE TABLE tool_sets (hash TEXT PRIMARY KEY, until INTEGER NOT NULL, tools TEXT NOT NULL) STRICT, WITHOUT ROWID;


-- tools, postgres, 1

-- The approved tools of each server. id: its name. pins: hashes by the names of tools, as JSON.
CREATE TABLE tools_pins (id TEXT PRIMARY KEY, pins TEXT NOT NULL, version bigint NOT NULL, deleted_at bigint) ;
CREATE INDEX tools_pins_version ON tools_pins (version);
-- state: 'approved'; 'new', 'changed' or 'gone' while nobody has approved it; 'seen' where definitions are not pinned. tool: its name as
-- JSON, because a name may have characters that no text of a store has. hash, definition: empty for a tool that is gone.
CREATE TABLE tools_definitions (server TEXT NOT NULL, state TEXT NOT NULL, place bigint NOT NULL, tool TEXT NOT NULL, hash TEXT NOT NULL,
  definition TEXT NOT NULL, since bigint NOT NULL, PRIMARY KEY (server, state, place)) ;


-- tools, postgres, 2

-- What clients keep for a while is sealed with the key: 32 bytes as base64url.
CREATE TABLE tools_seal (id TEXT PRIMARY KEY, key TEXT NOT NULL) ;


-- tools, postgres, 3

-- hash: 16 hexadecimal digits. tools: [name, bytes, 1 if the vendor runs it] of each, as JSON. until: calls with smaller numbers may have it.
CREATE TABLE tool_sets (hash TEXT PRIMARY KEY, until bigint NOT NULL, tools TEXT NOT NULL) ;


-- witness, sqlite, 1

-- number: position in the chain. prior, hash: SHA-256 of the observation before it and of this one. own, seen: JSON.
CREATE TABLE witness_observations (number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, at INTEGER NOT NULL, taken_by TEXT NOT NULL,
  model TEXT NOT NULL, own TEXT NOT NULL, seen TEXT NOT NULL, cost INTEGER NOT NULL, prior TEXT NOT NULL, hash TEXT NOT NULL) STRICT;
CREATE INDEX witness_observations_at ON witness_observations (at);
-- One look: of several nodes one makes it. slot: of the schedule, as its beginning in milliseconds since 1970; of the command, its own time.
-- held: nano-dollars that it may cost at most; spent: what it cost, absent while it runs or if its process has ended.
CREATE TABLE witness_looks (slot TEXT PRIMARY KEY, at INTEGER NOT NULL, held INTEGER NOT NULL, spent INTEGER) STRICT, WITHOUT ROWID;
-- A change of a provider that the sequential tests found. stream: the test. observation: the one that was enough. since: when it began at the latest.
CREATE TABLE witness_changes (id TEXT PRIMARY KEY, at INTEGER NOT NULL, model TEXT NOT NULL, kind TEXT NOT NULL,
  stream TEXT NOT NULL,  words TEXT NOT NULL, evidence TEXT NOT NULL, observation TEXT NOT NULL, since INTEGER NOT NULL) STRICT, WITHOUT ROWID;


-- witness, postgres, 1

-- number: position in the chain. prior, hash: SHA-256 of the observation before it and of this one. own, seen: JSON.
CREATE TABLE witness_observations (number bigint PRIMARY KEY, id TEXT NOT NULL UNIQUE, at bigint NOT NULL, taken_by TEXT NOT NULL,
  model TEXT NOT NULL, own TEXT NOT NULL, seen TEXT NOT NULL, cost bigint NOT NULL, prior TEXT NOT NULL, hash TEXT NOT NULL) ;
CREATE INDEX witness_observations_at ON witness_observations (at);
-- One look: of several nodes one makes it. slot: of the schedule, as its beginning in milliseconds since 1970; of the command, its own time.
-- held: nano-dollars that it may cost at most; spent: what it cost, absent while it runs or if its process has ended.
CREATE TABLE witness_looks (slot TEXT PRIMARY KEY, at bigint NOT NULL, held bigint NOT NULL, spent bigint) ;
-- A change of a provider that the sequential tests found. stream: the test. observation: the one that was enough. since: when it began at the latest.
CREATE TABLE witness_changes (id TEXT PRIMARY KEY, at bigint NOT NULL, model TEXT NOT NULL, kind TEXT NOT NULL,
  stream TEXT NOT NULL,  words TEXT NOT NULL, evidence TEXT NOT NULL, observation TEXT NOT NULL, since bigint NOT NULL) ;


-- stored answers, 1
CREATE TABLE response (
     id         TEXT PRIMARY KEY,
     owner      TEXT NOT NULL,
     deployment TEXT,             -- the deployment that stores the answer; NULL: weir
     parent     TEXT,
     model      TEXT NOT NULL,
     status     TEXT NOT NULL,
     created    INTEGER NOT NULL, -- milliseconds since 1970, as expires
     expires    INTEGER NOT NULL,
     bytes      INTEGER NOT NULL, -- size of the body and the items before compression
     body       BLOB              -- JSON, zstd; NULL if a deployment stores the answer
   ) STRICT, WITHOUT ROWID;
   CREATE INDEX response_expires ON response (expires);
   CREATE TABLE item (
     response TEXT NOT NULL REFERENCES response (id) ON DELETE CASCADE,
     side     INTEGER NOT NULL,   -- 0: input, 1: output
     seq      INTEGER NOT NULL,
     id       TEXT NOT NULL,
     value    BLOB NOT NULL,      -- JSON, zstd
     PRIMARY KEY (response, side, seq)
   ) STRICT, WITHOUT ROWID;
   CREATE INDEX item_id ON item (id);
