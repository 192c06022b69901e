/** Asks a guard that a plugin brings. What it throws, or says of texts that it did not get, is no verdict. */
import type { PluginFound, PluginGuard } from "../../../core/plugin-guard.ts";
import { type Answer, AskError, type AskedFinding, type Asker, type Batch } from "./asker.ts";
import { toUtf16 } from "./units.ts";
import { apart, kindOf, reasonOf } from "./words.ts";

const VERDICTS = new Set(["pass", "block", "flag"]);

export class PluginJudge implements Asker {
  readonly name: string;
  readonly #guard: string;

  constructor(guard: string) {
    this.name = `the guard ${guard} of a plugin`;
    this.#guard = guard;
  }

  async ask(batch: Batch, signal: AbortSignal): Promise<Answer> {
    const { registry } = batch;
    if (!registry) throw new AskError(`${this.name} cannot be asked about tools that clients of /mcp call`);
    const guard = registry.guards.get(this.#guard);
    if (!guard) throw new AskError(`no plugin brings the guard ${this.#guard}`);
    const found = batch.texts.flatMap(({ text }, index) => {
      const values: readonly PluginFound[] = guard.find?.(text) ?? [];
      return values.map((one) => ({ ...one, index }));
    });
    const said = guard.ask ? await guard.ask(viewOf(batch), signal) : { verdict: "pass" as const };
    if (!VERDICTS.has(said.verdict)) throw new AskError(`${this.name} gives no verdict`);
    const kind = reasonOf(said.code);
    if (said.verdict === "block") return { verdict: "block", kind, findings: [] };
    const all = [...found, ...(said.findings ?? [])].map((one) => this.#finding(one, batch));
    const findings = apart(all, this.name);
    if (batch.final || !guard.reach) return { verdict: said.verdict, kind, findings };
    return { verdict: said.verdict, kind, findings, holds: this.#holds(guard, batch) };
  }

  #finding(found: PluginFound & { index: number }, { texts }: Batch): AskedFinding {
    const { index, replacement } = found;
    const text = texts[index]?.text ?? "";
    const start = toUtf16(text, found.start, "utf16");
    const end = toUtf16(text, found.end, "utf16");
    if (start === undefined || end === undefined || start >= end)
      throw new AskError(`${this.name} finds something that is not in its text`);
    const kind = kindOf(found.kind);
    return { index, start, end, kind, ...(replacement !== undefined && { replacement }) };
  }

  #holds(guard: PluginGuard, { texts }: Batch): ReadonlyMap<number, number> {
    return new Map(
      texts.map(({ text }, index) => {
        const edge = toUtf16(text, guard.reach!(text), "utf16");
        if (edge === undefined) throw new AskError(`${this.name} reaches out of its text`);
        return [index, edge];
      }),
    );
  }
}

/** A plugin gets no more than a service would. */
function viewOf({ phase, call, texts, final }: Batch): Parameters<NonNullable<PluginGuard["ask"]>>[0] {
  const { headers: _, ...facts } = call;
  return { phase, call: facts, texts, final };
}
