/**
 * With the printed block as its config, weir works around what a host lacks or reports what is lost: no client gets an error of
 * the host, and nothing is lost in silence.
 */
import { afterAll, expect, test } from "bun:test";
import type { JsonObject } from "../../../core/json.ts";
import { createTransport } from "../../../http/index.ts";
import { writeBlock } from "../block.ts";
import { planOf } from "../plan.ts";
import { probeHost } from "../run.ts";
import { settingsOf } from "../settings.ts";
import { startGateway } from "../../../../test/helpers/gateway.ts";
import { type FakeHost, startHost } from "./host.ts";
import { NATIVE, TRANSLATED, type Use } from "./uses.ts";
import { type Row, VARIANTS } from "./variants.ts";

const transport = createTransport({}, { idleMs: 1 });
const printed: string[] = [];

/** What became of one use: it works, weir reported a loss, or weir refused it before it asked the host. */
type Result = "works" | "reported" | "refused by weir" | "LOST IN SILENCE" | "ERROR OF THE HOST";

async function resultOf(use: Use, url: string, host: FakeHost): Promise<[Result, string]> {
  host.clear();
  const outcome = await use.run(url).catch((thrown: unknown) => thrown);
  const refusals = host.seen.filter(({ status }) => status >= 400);
  if (refusals.length > 0) return ["ERROR OF THE HOST", JSON.stringify(refusals)];
  if (outcome instanceof Error) {
    const status = (outcome as { status?: number }).status ?? 0;
    const isOwn = host.seen.length === 0 && (status === 400 || status === 404);
    return [isOwn ? "refused by weir" : "ERROR OF THE HOST", outcome.message];
  }
  const { works, warnings } = outcome as Awaited<ReturnType<Use["run"]>>;
  if (works && warnings === "") return ["works", ""];
  return [warnings === "" ? "LOST IN SILENCE" : "reported", warnings];
}

async function configOf({ host: variant }: Row, host: FakeHost): Promise<JsonObject> {
  const credentials: Record<string, string> = variant.key ? { authorization: `Bearer ${variant.key}` } : {};
  const found = await probeHost({
    place: { baseUrl: host.url, chatUrl: () => `${host.url}/chat/completions`, headers: {}, credentials },
    transport,
    mostCalls: planOf().calls,
    ...(variant.models === "refused" && { model: "chat-1" }),
  });
  const listsModels = found.findings.models?.verdict === "yes";
  const block = writeBlock(found.findings, settingsOf(found.findings), {
    provider: "acme",
    model: found.model,
    host: { baseUrl: host.url, listsModels, ...(variant.key && { apiKeyEnv: "ACME_API_KEY" }) },
    date: "2026-01-01",
  });
  return Bun.YAML.parse(block) as JsonObject;
}

for (const row of VARIANTS)
  test(`no error of the host and no silent loss: ${row.name}`, async () => {
    const host = startHost(row.host);
    const config = await configOf(row, host);
    const gateway = await startGateway({
      config,
      env: { ...(row.host.key && { ACME_API_KEY: row.host.key }) },
    });
    try {
      const bad: string[] = [];
      const count: Partial<Record<Result, string[]>> = {};
      for (const [kind, uses] of [
        ["native", NATIVE],
        ["translated", TRANSLATED],
      ] as const)
        for (const use of uses) {
          const [result, detail] = await resultOf(use, gateway.url, host);
          (count[result] ??= []).push(`${use.name}${kind === "native" ? "" : " (t)"}`);
          if (result === "LOST IN SILENCE" || result === "ERROR OF THE HOST")
            bad.push(`${kind} ${use.name}: ${result} ${detail}`);
        }
      const others = Object.entries(count).filter(([result]) => result !== "works");
      printed.push(
        [
          `${row.name}: ${count.works?.length ?? 0} of ${NATIVE.length + TRANSLATED.length} work`,
          ...others.map(([result, names]) => `  ${result}: ${names.join(", ")}`),
        ].join("\n"),
      );
      expect(bad).toEqual([]);
      if (row.name === "has everything") expect(others).toEqual([]);
    } finally {
      await gateway.stop();
      await host.stop();
    }
  }, 60_000);

afterAll(() => {
  if (process.env["PRINT_TABLES"]) console.log(printed.join("\n"));
});
