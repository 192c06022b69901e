/** Answers of lines in the format of another vendor, through the codecs that calls go through. */
import type { CodecContext } from "../../../core/context.ts";
import type { Format } from "../../../core/format.ts";
import { isObject, parseJson } from "../../../core/json.ts";
import type { Translate } from "../shapes/results.ts";

let made: Promise<Translate> | undefined;

/** The codecs are loaded with the first batch that is read in another format. */
export function translator(): Promise<Translate> {
  return (made ??= import("../../../run/formats.ts").then(({ builtInFormats }) => {
    const formats = builtInFormats({ systemTurns: "accept" });
    return (body, from, to) => {
      const reads = formatOf(formats, from);
      const writes = formatOf(formats, to);
      return reads && writes && translated(body, reads, writes);
    };
  }));
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
function translated(body: Uint8Array, from: Format, to: Format): Uint8Array | undefined {
  const answer = parseJson(Buffer.from(body).toString());
  const reader = from.client?.codec.reader ?? from.upstream?.codec;
  if (!isObject(answer) || !reader || !to.client) return undefined;
  const context = contextOf(answer["id"], answer["model"]);
  try {
    const events = reader.readAnswer(answer, context);
    return Buffer.from(JSON.stringify(to.client.codec.writeAnswer(events, context)));
  } catch {
    return undefined;
  }
}

function contextOf(id: unknown, model: unknown): CodecContext {
  const name = typeof model === "string" ? model : "";
  return {
    ...{ id: typeof id === "string" ? id : "req_batch", startedAt: performance.now(), model: name },
    ...{ headers: new Headers(), sameFormat: false, toolNames: new Map(), reportLoss: () => {} },
    target: { provider: "", model: name, traits: {}, isVendor: false },
  };
}
