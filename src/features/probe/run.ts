/** Runs the probes against one host, one call at a time. */
import { Host, type HostOptions } from "./host.ts";
import { FIRST, PROBES } from "./probes/index.ts";
import type { Feature, Finding, Findings } from "./types.ts";

export interface RunOptions extends Omit<HostOptions, "model"> {
  /** Default: the first model of the host's list that generates text. */
  model?: string;
  /** Called with each finding, for progress. */
  report?(feature: Feature, finding: Finding): void;
}

export interface ProbeResult {
  model: string;
  findings: Findings;
  /** Number of calls that were sent. */
  calls: number;
}

/** Why a host cannot be probed, as a sentence. */
export class ProbeError extends Error {}

/** @throws ProbeError if there is no model to ask, or if the host does not answer a simple question */
export async function probeHost({ model, report, ...options }: RunOptions): Promise<ProbeResult> {
  const host = new Host({ ...options, model: model ?? "" });
  const findings: Findings = {};
  for (const probe of PROBES) {
    const found = await probe.run(host);
    for (const [feature, finding] of Object.entries(found) as [Feature, Finding][]) {
      findings[feature] = finding;
      report?.(feature, finding);
    }
    if (probe === FIRST[0] && host.silence !== undefined)
      throw new ProbeError(
        `${host.place.baseUrl} is unreachable: it ${host.silence}; check the address, and that the server runs.`,
      );
    if (probe === FIRST[0]) chooseModel(host, findings, model);
    if (probe === FIRST[1]) assertAnswers(host, findings);
  }
  return { model: host.model, findings, calls: host.calls };
}

/** Models that generate no text, by their names. */
const NO_TEXT =
  /embed|rerank|whisper|tts|speech|audio|transcri|dall-e|image|moderation|guard|sora|video|diffusion|flux/i;

function chooseModel(host: Host, { models }: Findings, wanted: string | undefined): void {
  host.listed = models?.verdict === "yes" ? (models.value as string[]) : [];
  if (wanted !== undefined) return;
  const first = host.listed.find((name) => !NO_TEXT.test(name));
  if (first !== undefined) {
    host.model = first;
    return;
  }
  const has =
    host.listed.length > 0
      ? `it lists ${host.listed.slice(0, 20).join(", ")}`
      : `GET ${host.place.baseUrl}/models: ${models?.evidence}`;
  throw new ProbeError(`the host lists no model that generates text (${has}); name one with --model.`);
}

function assertAnswers(host: Host, { answers }: Findings): void {
  if (answers?.verdict === "yes") return;
  const { listed, model } = host;
  const others =
    listed.length > 0 && !listed.includes(model) ? ` It lists ${listed.slice(0, 20).join(", ")}.` : "";
  throw new ProbeError(
    `${host.chatUrl} does not answer a simple question to ${model}: ${answers?.evidence}.${others}`,
  );
}
