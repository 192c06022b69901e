/** One POST to a service of the operator. */
import { HttpError, nextPiece, takeFrom, type UpstreamResponse } from "../../../http/index.ts";
import { transport } from "../../../gateway/lanes/transport.ts";
import { AskError } from "./asker.ts";

/** Longest answer. Bytes. */
const MOST_BYTES = 4 * 1024 * 1024;

export interface Posted {
  /** As errors name it: `the webhook`. */
  readonly name: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
}

/**
 * Repeats the request once where no connection came about, so that the service gets it once. Follows no redirect.
 * @returns the value of the JSON answer
 * @throws AskError, whose sentence has nothing of the answer, or the reason of the signal
 */
export async function post(posted: Posted, signal: AbortSignal): Promise<unknown> {
  const { name } = posted;
  const response = await send(posted, signal, false).catch((thrown: unknown) => {
    if (signal.aborted || !(thrown instanceof HttpError) || (thrown.sent && thrown.reason !== "stale"))
      throw failed(name, thrown, signal);
    return send(posted, signal, true).catch((again: unknown) => {
      throw failed(name, again, signal);
    });
  });
  return answerOf(response, name).catch((thrown: unknown) => {
    throw failed(name, thrown, signal);
  });
}

/** @returns the value of the JSON answer @throws AskError as {@link textOf}, and for what is not JSON */
export async function answerOf(response: UpstreamResponse, name: string): Promise<unknown> {
  const text = await textOf(response, name);
  try {
    return JSON.parse(text);
  } catch {
    throw new AskError(`the answer of ${name} is not JSON`);
  }
}

/** @throws AskError for a status that is none of success, and what the reading meets */
export async function textOf(response: UpstreamResponse, name: string): Promise<string> {
  if (response.ok) return read(response, name);
  void response.body?.getReader().cancel();
  throw new AskError(`${name} answers with status ${response.status}`);
}

function send({ url, headers, body }: Posted, stop: AbortSignal, fresh: boolean): Promise<UpstreamResponse> {
  return transport({
    url,
    headers: { accept: "application/json", "content-type": "application/json", ...headers },
    body: [body],
    stop,
    pool: "guards",
    fresh,
  });
}

async function read({ body }: UpstreamResponse, name: string): Promise<string> {
  if (!body) return "";
  const reader = body.getReader();
  const pieces: Uint8Array[] = [];
  for (let length = 0; ;) {
    const { done, value } = await nextPiece({ take: (receiver) => takeFrom(reader, receiver) });
    if (done) return Buffer.concat(pieces).toString();
    length += value!.length;
    if (length > MOST_BYTES) {
      void reader.cancel();
      throw new AskError(`the answer of ${name} is longer than ${MOST_BYTES / 1024 / 1024} MB`);
    }
    pieces.push(value!);
  }
}

function failed(name: string, thrown: unknown, signal: AbortSignal): unknown {
  if (signal.aborted) return signal.reason;
  if (thrown instanceof AskError) return thrown;
  return new AskError(
    thrown instanceof HttpError
      ? `${name} ${WORDS[thrown.phase] ?? "broke off its answer"}`
      : `${name} failed`,
  );
}

const WORDS: Partial<Record<HttpError["phase"], string>> = {
  dns: "has an address that does not resolve",
  connect: "cannot be reached",
  tls: "failed the TLS check",
  sent: "closed the connection before it answered",
};
