/** Tables for what providers gave at sign-ins. */

export const REFRESH_TOKENS = `
-- The newest refresh token that a provider gave weir for a person. sealed: the token, by a key that follows from the provider's secret.
-- checked_at: when the provider said last that the person may sign in. claim, claim_until: who asks the provider at this moment.
CREATE TABLE identity_provider_tokens (person TEXT NOT NULL, provider TEXT NOT NULL, sealed TEXT NOT NULL, checked_at {INT} NOT NULL,
  claim TEXT, claim_until {INT} NOT NULL, PRIMARY KEY (person, provider)) {KEYED};
`;

export const ID_TOKENS = `
-- id_token: the sealed ID token of the sign-in, by which the provider knows its own session at a sign-out.
ALTER TABLE identity_sessions ADD COLUMN id_token TEXT;
`;
