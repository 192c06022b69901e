/** Answers of lines in the format of another vendor, through the codecs that calls go through. */
import type { CodecContext } from "../../../core/context.ts";
import type { Format } from "../../../core/format.ts";
import { isObject, parseJson } from "../../../core/json.ts";
import type { LossCode } from "../../../core/loss.ts";
import type { Translate } from "../shapes/results.ts";

let loaded: Promise<readonly Format[]> | undefined;

/**
 * The codecs are loaded with the first batch that is read in another format.
 * @param lose hears of each part of an answer that the other format cannot carry
 */
export async function translator(lose: (code: LossCode) => void): Promise<Translate> {
  const formats = await (loaded ??= import("../../../run/formats.ts").then(({ builtInFormats }) =>
    builtInFormats({ systemTurns: "accept" }),
  ));
  return (body, from, to) => {
    const reads = formatOf(formats, from);
    const writes = formatOf(formats, to);
    return reads && writes && translated(body, reads, writes, lose);
  };
}

/** The format whose clients generate at an endpoint; embeddings have no form in another one. */
function formatOf(formats: readonly Format[], endpoint: string): Format | undefined {
  if (/embed/i.test(endpoint)) return undefined;
  return formats.find(
    ({ client }) =>
      client !== undefined &&
      (client.routes.path === endpoint || client.routes.address?.modelOf(endpoint) !== undefined),
  );
}

/** @returns undefined for an answer that has no such form */
function translated(
  body: Uint8Array,
  from: Format,
  to: Format,
  lose: (code: LossCode) => void,
): Uint8Array | undefined {
  const answer = parseJson(Buffer.from(body).toString());
  const reader = from.client?.codec.reader ?? from.upstream?.codec;
  if (!isObject(answer) || !reader || !to.client) return undefined;
  const context = contextOf(answer["id"], answer["model"], lose);
  try {
    const events = reader.readAnswer(answer, context);
    return Buffer.from(JSON.stringify(to.client.codec.writeAnswer(events, context)));
  } catch {
    return undefined;
  }
}

function contextOf(id: unknown, model: unknown, reportLoss: CodecContext["reportLoss"]): CodecContext {
  const name = typeof model === "string" ? model : "";
  return {
    ...{ id: typeof id === "string" ? id : "req_batch", startedAt: performance.now(), model: name },
    ...{ headers: new Headers(), sameFormat: false, toolNames: new Map(), reportLoss },
    target: { provider: "", model: name, traits: {}, isVendor: false },
  };
}
