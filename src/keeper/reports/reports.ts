/** The reading side of the books: usage, calls, the audit, and what people ask of the store. */
import { AdminError } from "../../operator/errors.ts";
import type { UsageGroup } from "../../operator/reports.ts";
import type { Nano } from "../../ledger/money.ts";
import type { PriceRule } from "../../ledger/charge.ts";
import type { CallRecord } from "../../ledger/record.ts";
import type { NamedTables } from "../seams.ts";
import { writeAudit } from "../store/audit-log.ts";
import type { Sql } from "../store/sql.ts";
import type { Actor } from "../store/store.ts";
import { Prover } from "../proof/prover.ts";
import type { AuditProgress } from "./audit.ts";
import { listCalls, readCall } from "./calls.ts";
import { type DeploymentQuery, type DeploymentReport, deploymentReport } from "./deployments.ts";
import { Directory } from "./directory.ts";
import { type UsedNames, usedNames } from "./names.ts";
import { reconcile } from "./reconcile.ts";
import { summarize } from "./summary.ts";
import type {
  Assumption,
  AuditReport,
  CallFilter,
  CallPage,
  CallQuery,
  CallSummary,
  Filter,
  Invoice,
  Reconciliation,
  UsageFilter,
  UsageReport,
} from "./shapes.ts";
import { missingPrices, usageReport } from "./usage.ts";

/** Facts of a stored key that calls do not need. Milliseconds since 1970. */
export interface KeyFacts {
  createdAt: number;
  createdBy: string;
  lastUsedAt?: number;
  version: number;
}

export interface AuditEntry {
  id: string;
  at: number;
  actor: string;
  address?: string;
  action: string;
  subject: string;
  before?: unknown;
  after?: unknown;
}

export interface Page {
  limit: number;
  /** Cursor: `next` of the page before. */
  after?: string;
}

/** Computes an answer from the rows of the store. */
export type Report<Value> = (reader: Sql, directory: Directory) => Promise<Value>;

export class Reports {
  /** For reading: with a file, a connection of its own, so that a long report stops no grant. */
  readonly #reader: Sql;
  readonly #writer: Sql;
  readonly prover: Prover;
  #auditing: AuditProgress | undefined;
  readonly #directory: Directory;
  readonly #now: () => number;
  readonly #features: readonly NamedTables[];

  /** @param now milliseconds since 1970 @param features their tables, which may have members of records */
  constructor(
    reader: Sql,
    writer: Sql,
    now: () => number = Date.now,
    slow = reader,
    features: readonly NamedTables[] = [],
  ) {
    this.#reader = reader;
    this.#features = features;
    // For what reads all rows, so that no page waits for it.
    this.prover = new Prover(slow, writer, now, features);
    this.#writer = writer;
    this.#directory = new Directory(reader);
    this.#now = now;
  }

  usage(query: UsageFilter & { by: readonly UsageGroup[] }): Promise<UsageReport> {
    return usageReport(this.#reader, this.#directory, query, this.#now());
  }

  calls(filter: CallQuery): Promise<CallPage> {
    return listCalls(this.#reader, this.#directory, filter, this.#features);
  }

  /** @param filter with the most slices of the answer */
  summary(filter: CallFilter & { slices: number }): Promise<CallSummary> {
    return summarize(this.#reader, this.#directory, filter, this.#now());
  }

  deployments(query: DeploymentQuery): Promise<DeploymentReport> {
    return deploymentReport(this.#reader, this.#directory, query);
  }

  names(within: string): Promise<UsedNames> {
    return usedNames(this.#reader, this.#directory, within);
  }

  call(id: string): Promise<CallRecord | undefined> {
    return readCall(this.#reader, this.#directory, id, this.#features);
  }

  /** The rules of charges, as far as they are in the store. */
  rules(refs: readonly string[]): Promise<ReadonlyMap<string, PriceRule>> {
    return this.#directory.rulesOf(refs);
  }

  /** Runs a report of a feature. */
  read<Value>(report: Report<Value>): Promise<Value> {
    return report(this.#reader, this.#directory);
  }

  /** The newest first. */
  async assumptions({ limit, after }: Page): Promise<{ entries: Assumption[]; next?: string }> {
    const rows = await this.#reader.all<Assumption & { id: number }>(
      "SELECT id, at, account, amount, why FROM assumptions WHERE id < $1 ORDER BY id DESC LIMIT $2",
      [cursor(after), limit + 1],
    );
    const entries = rows
      .slice(0, limit)
      .map(({ at, account, amount, why }) => ({ at, account, amount, why }));
    return { entries, ...nextOf(rows, limit) };
  }

  missingPrices(): Promise<{ provider: string; model: string; calls: number }[]> {
    return missingPrices(this.#reader, this.#directory);
  }

  /** The rules that calls were charged by. */
  usedPrices(): Promise<PriceRule[]> {
    return this.#directory.rules();
  }

  /** Of a key that the config declares only when it was used last. */
  async keyFacts(): Promise<ReadonlyMap<string, Partial<KeyFacts>>> {
    const rows = await this.#reader.all<{
      id: string;
      created_at: number;
      created_by: string;
      version: number;
    }>("SELECT id, created_at, created_by, version FROM keys WHERE declared = 0");
    const lastUsed = await this.#lastUsed();
    const declared = [...lastUsed].map(([id, lastUsedAt]) => [id, { lastUsedAt }] as const);
    return new Map<string, Partial<KeyFacts>>([
      ...declared,
      ...rows.map(({ id, created_at: createdAt, created_by: createdBy, version }) => {
        const lastUsedAt = lastUsed.get(id);
        const facts = { createdAt, createdBy, version, ...(lastUsedAt !== undefined && { lastUsedAt }) };
        return [id, facts] as const;
      }),
    ]);
  }

  /** How far the audit is that runs; undefined if none does. */
  get auditing(): AuditProgress | undefined {
    return this.#auditing;
  }

  /** Proves the books: reads all rows. */
  async audit(): Promise<AuditReport> {
    try {
      return await this.prover.full((progress) => (this.#auditing = progress));
    } finally {
      this.#auditing = undefined;
    }
  }

  /** The newest first. */
  async auditLog({ limit, after }: Page): Promise<{ entries: AuditEntry[]; next?: string }> {
    const rows = await this.#reader.all<{
      id: number;
      at: number;
      actor: string;
      address: string | null;
      action: string;
      subject: string;
      before: string | null;
      after: string | null;
    }>(
      "SELECT id, at, actor, address, action, subject, before, after FROM audit WHERE id < $1 ORDER BY id DESC LIMIT $2",
      [cursor(after), limit + 1],
    );
    const entries = rows.slice(0, limit).map(({ id, address, before, after: later, ...entry }) => ({
      ...entry,
      id: String(id),
      ...(address !== null && { address }),
      ...(before !== null && { before: JSON.parse(before) as unknown }),
      ...(later !== null && { after: JSON.parse(later) as unknown }),
    }));
    return { entries, ...nextOf(rows, limit) };
  }

  async invoices(): Promise<Invoice[]> {
    const rows = await this.#reader.all<{
      provider: string;
      month: string;
      amount: Nano;
      note: string | null;
    }>("SELECT provider, month, amount, note FROM invoices ORDER BY month DESC, provider");
    return rows.map(({ note, ...invoice }) => ({ ...invoice, ...(note !== null && { note }) }));
  }

  /** The last proof that the store keeps. */
  lastProof() {
    return this.prover.last(this.#reader);
  }

  /** Adds an entry to the audit log. */
  async note(actor: Actor, action: string, subject: string, facts?: unknown): Promise<void> {
    await this.#writer.transaction((sql) =>
      writeAudit(sql, this.#now(), actor, action, subject, null, facts),
    );
  }

  /** Notes what a provider's invoice says, in place of what was noted for its month before, and compares it with the books. */
  async reconcile(invoice: Invoice, actor: Actor): Promise<Reconciliation> {
    const { provider, month, amount, note } = invoice;
    const at = this.#now();
    await this.#writer.transaction(async (sql) => {
      await sql.run(
        `INSERT INTO invoices (provider, month, amount, note, at) VALUES ($1, $2, $3, $4, $5)
         ON CONFLICT (provider, month) DO UPDATE SET amount = excluded.amount, note = excluded.note, at = excluded.at`,
        [provider, month, amount, note ?? null, at],
      );
      await writeAudit(sql, at, actor, "reconcile", `invoices/${provider}/${month}`, null, { amount, note });
    });
    return reconcile(this.#reader, this.#directory, invoice);
  }

  async #lastUsed(): Promise<ReadonlyMap<string, number>> {
    await this.#directory.refresh();
    const used = new Map<string, number>();
    for (const [id, { key }] of this.#directory.callers) {
      const [row] = await this.#reader.all<{ at: number }>(
        "SELECT at FROM calls WHERE caller = $1 ORDER BY number DESC LIMIT 1",
        [id],
      );
      if (row) used.set(key, Math.max(used.get(key) ?? 0, row.at));
    }
    return used;
  }
}

function cursor(after: string | undefined): number {
  return after === undefined ? Number.MAX_SAFE_INTEGER : Number(after);
}

function nextOf(rows: readonly { id: number }[], limit: number): { next?: string } {
  return rows.length > limit ? { next: String(rows[limit - 1]!.id) } : {};
}
