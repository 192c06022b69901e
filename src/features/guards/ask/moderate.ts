/** Asks a moderation model of a provider that weir has, in the dialect of the provider. The call is booked on its caller. */
import { Attempt, Call } from "../../../core/call.ts";
import { GatewayError } from "../../../core/error.ts";
import type { ModelKind } from "../../../core/model-kind.ts";
import type { ModerationAnswer, ModerationRequest, ModerationResult } from "../../../core/moderation.ts";
import type { Target } from "../../../core/provider.ts";
import { scoreOf } from "../../../core/rerank.ts";
import { send, upstreamHeaders } from "../../../gateway/lanes/send.ts";
import { performedBy } from "../../../gateway/plugins/kind-programs.ts";
import type { WorkerHost } from "../../../gateway/seams.ts";
import { type Answer, AskError, type Asker, type Batch, PASSED } from "./asker.ts";
import { textOf } from "./post.ts";
import { reasonOf } from "./words.ts";

const NAME = "the moderation";
const KIND = "moderation";
/** The dialect of a provider of which nothing else is known. */
const DIALECT = "moderations";

export interface ModerateOptions {
  /** As clients name it: `openai/omni-moderation-latest`. */
  readonly model: string;
  /** Absent: all. */
  readonly categories?: readonly string[];
  /** Score from which a text counts, 0 to 1; absent: the model decides. */
  readonly over?: number;
  readonly images: boolean;
}

type Work = WorkerHost["work"];

export class Moderate implements Asker {
  readonly name = NAME;
  readonly prose = true;
  readonly images: boolean;
  readonly #options: ModerateOptions;
  readonly #timeoutMs: number;
  readonly #work: Work;

  constructor(options: ModerateOptions, timeoutMs: number, work: Work) {
    this.#options = options;
    this.#timeoutMs = timeoutMs;
    this.#work = work;
    this.images = options.images;
  }

  async ask(batch: Batch, signal: AbortSignal): Promise<Answer> {
    const { parent, registry } = batch;
    const { model, categories, over } = this.#options;
    if (!registry) throw new Error(`${NAME} cannot be asked about tools that clients of /mcp call`);
    await registry.prepare(model);
    const kind = registry.kinds.get(KIND) as ModelKind<ModerationRequest, ModerationAnswer>;
    const target = targetFor(registry, model);
    const { results } = await this.#work({
      ...{ by: target.provider.name, name: target.model, at: target.deployment.name },
      ...{ payer: parent, parent, units: { call: 1 }, price: { call: 0 }, timeoutMs: this.#timeoutMs },
      run: async ({ id }) => {
        const call = new Call(id, KIND, new Headers(), parent);
        const attempt = new Attempt(call, target);
        const abort = () => attempt.stop.abort(new GatewayError("timeout", `${NAME} took too long`));
        signal.addEventListener("abort", abort);
        try {
          return await judge(kind, requestOf(batch, model), attempt);
        } finally {
          signal.removeEventListener("abort", abort);
        }
      },
    });
    for (const result of results) {
      const category = worstOf(result, categories, over);
      if (category !== undefined) return { verdict: "block", kind: reasonOf(category), findings: [] };
    }
    return PASSED;
  }
}

/** A provider that says nothing of moderations is asked in the dialect of most: such a host may stand behind any format. */
function targetFor(registry: NonNullable<Batch["registry"]>, model: string): Target {
  try {
    return registry.resolve(model, DIALECT, KIND);
  } catch (fault) {
    const [served] = registry.servedBy(model);
    if (!served || served.provider.does?.moderation) throw fault;
    const target = registry.resolve(model, DIALECT);
    const url = `${target.deployment.baseUrl.replace(/\/$/, "")}/moderations`;
    return { ...target, format: DIALECT, url };
  }
}

/** Each text is an input, or with images all of them are the parts of one. */
function requestOf({ texts, images }: Batch, model: string): ModerationRequest {
  const each = texts.map(({ text }) => ({ texts: [text], images: [] }));
  const whole = { texts: texts.map(({ text }) => text), images: images.map(({ url }) => url) };
  return { model, dialect: DIALECT, inputs: images.length === 0 ? each : [whole], pathOf: () => "input" };
}

async function judge(
  kind: ModelKind<ModerationRequest, ModerationAnswer>,
  request: ModerationRequest,
  attempt: Attempt,
): Promise<ModerationAnswer> {
  const { target } = attempt;
  const dialect = kind.dialects.find(({ id }) => id === target.format);
  if (!dialect) {
    const answer = await performedBy(target.provider, KIND, request, attempt);
    return kind.complete(answer as ModerationAnswer, request);
  }
  const body = [Buffer.from(JSON.stringify(dialect.encodeRequest(request, attempt.context)))];
  const headers = upstreamHeaders(target, {}, false);
  const response = await send({ target, url: target.url, headers, body, expects: "json" }, attempt);
  const answer = dialect.readAnswer(await textOf(response, NAME), request);
  if (!answer) throw new AskError(`the answer of ${NAME} has no results`);
  return kind.complete(answer, request);
}

/** The category that counts most. @returns undefined: none does */
function worstOf(
  { flagged, categories, scores }: ModerationResult,
  wanted: readonly string[] | undefined,
  over: number | undefined,
): string | undefined {
  const names = wanted ?? Object.keys(scores);
  const score = (name: string) => {
    const value = scores[name];
    if (value === undefined) throw new AskError(`a result of ${NAME} lacks a category of the config`);
    return scoreOf(value);
  };
  const worst = names
    .filter((name) => (over === undefined ? categories[name] === true : score(name) >= over))
    .sort((one, other) => score(other) - score(one));
  if (worst.length > 0 || wanted || over !== undefined) return worst[0];
  return flagged === true ? "flagged" : undefined;
}
