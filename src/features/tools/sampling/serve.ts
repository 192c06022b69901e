/** Answers servers that ask for a model during the call of a tool. In each worker. */
import { type ErrorKind, GatewayError } from "../../../core/error.ts";
import type { JsonObject } from "../../../core/json.ts";
import type { Principal } from "../../../core/principal.ts";
import type { WorkerHost } from "../../../gateway/seams.ts";
import type { RunningWork } from "../../../gateway/work.ts";
import type { CallAsk, Piece, PostAsk } from "../asks.ts";
import type { AskTools } from "../front/process.ts";
import { type Answered, CODE, McpError, type RpcError } from "../wire/messages.ts";
import { hinted, hintsOf } from "./model.ts";
import { readRequest } from "./request.ts";
import { resultOf } from "./result.ts";
import type { SamplingOptions } from "./section.ts";

/** Answers one request of a server. It fails with an error that tells the server nothing of the caller. */
export type Sample = (params: JsonObject) => Promise<Answered>;

/** The models of a gateway, as servers may ask for them. */
export class Samplers {
  readonly #host: Pick<WorkerHost, "served">;
  readonly #options: SamplingOptions | undefined;

  constructor(host: Pick<WorkerHost, "served">, options: SamplingOptions | undefined) {
    this.#host = host;
    this.#options = options;
  }

  /** @returns how the server of a call asks; undefined: no server may */
  of({ ask }: Pick<RunningWork, "ask">, principal: Principal | undefined): Sample | undefined {
    const options = this.#options;
    if (!options) return undefined;
    return async (params) => {
      try {
        const wanted = readRequest(params);
        const model = (await this.#hinted(params, principal)) ?? options.model;
        return { result: resultOf(await ask({ ...wanted, model }), wanted.tools!.length > 0) };
      } catch (thrown) {
        return { error: thrown instanceof McpError ? thrown.rpc : errorOf(thrown) };
      }
    };
  }

  async #hinted(params: JsonObject, principal: Principal | undefined): Promise<string | undefined> {
    const hints = hintsOf(params);
    return hints.length === 0 ? undefined : hinted(hints, await this.#host.served().catalog.list(principal));
  }
}

/** The pieces of an answer, while models answer what its server asks. @param sample undefined: they do not */
export async function* withSamples(
  ask: AskTools,
  message: PostAsk | CallAsk,
  stop: AbortSignal | undefined,
  sample: Sample | undefined,
): AsyncGenerator<Piece, void> {
  if (!sample) return yield* ask(message, stop);
  for await (const piece of ask({ ...message, samples: true }, stop))
    if ("sample" in piece) void answer(ask, piece.sample, sample);
    else yield piece;
}

async function answer(
  ask: AskTools,
  { id, params }: { id: number; params: JsonObject },
  sample: Sample,
): Promise<void> {
  const answered = await sample(params);
  try {
    for await (const _ of ask({ kind: "sampled", id, answered }));
  } catch {
    // The process has ended, and the call of the tool with it.
  }
}

const LIMIT = [CODE.limit, "a budget or limit does not permit it"] as const;
const MODEL = [CODE.internal, "the caller may not use the model"] as const;
const REQUEST = [CODE.params, "the model does not take the request"] as const;
const TIME = [CODE.internal, "it did not answer in time"] as const;
const FAILED = [CODE.internal, "it failed"] as const;

const REASONS: Partial<Record<ErrorKind, readonly [code: number, because: string]>> = {
  ...{ "rate-limited": LIMIT, quota: LIMIT, overloaded: LIMIT },
  ...{ permission: MODEL, "not-found": MODEL, timeout: TIME },
  ...{ "invalid-request": REQUEST, "too-large": REQUEST },
};

/** Names and budgets of the caller are no business of the server. The log has the whole reason. */
function errorOf(thrown: unknown): RpcError {
  const error = GatewayError.from(thrown);
  const [code, because] = REASONS[error.kind] ?? FAILED;
  return {
    ...{ code, message: `weir has no answer of a model: ${because}` },
    ...(error.code !== undefined && { data: { code: error.code } }),
  };
}
