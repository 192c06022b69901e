/** The shapes of the reports, as the keeper computes them: those of the admin API without the names of keys. */
import type {
  CacheReport as Report,
  CacheSession as Session,
  CacheSessions as Sessions,
} from "../../operator/cache.ts";
import type { Frozen } from "../../operator/contract.ts";

export type CacheReport = Frozen<Report>;
export type CacheRow = CacheReport["rows"][number];
/** The reason that cost most. */
export type Commonest = NonNullable<CacheRow["commonest"]>;
export type LosingSessions = Frozen<Sessions>;
export type CacheSession = Frozen<Session>;
