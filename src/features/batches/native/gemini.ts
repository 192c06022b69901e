/** Google's batch API for Gemini: requests and answers are in the bodies of one operation. */
import { isObject, type JsonObject } from "../../../core/json.ts";
import type {
  BatchHost,
  Found,
  HostCall,
  HostLine,
  HostLook,
  HostResult,
  HostState,
  Sought,
} from "./host.ts";
import { jsonOf, objectsIn, textOf } from "./wire.ts";

/** Pages that are searched for a batch. */
const PAGES = 10;

const STATES: Readonly<Record<string, HostState>> = {
  ...{ SUCCEEDED: "done", FAILED: "failed", CANCELLED: "cancelled", EXPIRED: "expired" },
};

/** HTTP statuses by the codes of google.rpc.Code. */
const STATUSES: Readonly<Record<number, number>> = {
  ...{ 1: 499, 3: 400, 4: 504, 5: 404, 6: 409, 7: 403, 8: 429, 9: 400, 10: 409, 11: 400 },
  ...{ 12: 501, 13: 500, 14: 503, 15: 500, 16: 401 },
};

const encoder = new TextEncoder();
const COMMA = encoder.encode(",");

export class GeminiHost implements BatchHost {
  /** Google takes 20 MB in one body. */
  readonly limits = { lines: 20_000, bytes: 18_000_000 };
  readonly formats = ["gemini"];

  async create(lines: readonly HostLine[], mark: string, call: HostCall): Promise<{ id: string }> {
    const head = `{"batch":{"displayName":"weir-${mark}","inputConfig":{"requests":{"requests":[`;
    const bytes = lines.flatMap(({ key, body }, at) => {
      const one = [encoder.encode('{"request":'), body, encoder.encode(`,"metadata":{"key":"${key}"}}`)];
      return at === 0 ? one : [COMMA, ...one];
    });
    const body = [encoder.encode(head), ...bytes, encoder.encode("]}}}}")];
    const path = `${call.path.replace(/:[a-zA-Z]+(\?.*)?$/, "")}:batchGenerateContent`;
    const made = await jsonOf(await call.ask("POST", path, { type: "application/json", bytes: body }));
    return { id: textOf(made["name"]) };
  }

  async find({ mark }: Sought, call: HostCall): Promise<Found> {
    let token = "";
    for (let page = 0; page < PAGES; page++) {
      const listed = await jsonOf(
        await call.ask("GET", `${rootOf(call)}/batches?pageSize=100${token && `&pageToken=${token}`}`),
      );
      for (const { name, metadata } of objectsIn(listed["operations"]))
        if (isObject(metadata) && metadata["displayName"] === `weir-${mark}`) return { id: textOf(name) };
      token = encodeURIComponent(textOf(listed["nextPageToken"]));
      if (token === "") return undefined;
    }
    return undefined;
  }

  async look(id: string, call: HostCall): Promise<HostLook> {
    const { metadata, error } = await this.#get(id, call);
    const state = isObject(metadata) ? textOf(metadata["state"]).replace(/^(BATCH|JOB)_STATE_/, "") : "";
    const why = isObject(error) ? textOf(error["message"]) : "";
    return { state: STATES[state] ?? "working", ...(why !== "" && { why }) };
  }

  async *results(id: string, call: HostCall): AsyncGenerator<HostResult, void> {
    const { metadata, response } = await this.#get(id, call);
    const output = isObject(metadata) && isObject(metadata["output"]) ? metadata["output"] : response;
    const inlined = isObject(output) ? output["inlinedResponses"] : undefined;
    for (const one of objectsIn(isObject(inlined) ? inlined["inlinedResponses"] : undefined)) {
      const key = isObject(one["metadata"]) ? textOf(one["metadata"]["key"]) : "";
      yield isObject(one["response"])
        ? { key, status: 200, body: JSON.stringify(one["response"]) }
        : refusalOf(key, isObject(one["error"]) ? one["error"] : {});
    }
  }

  async cancel(id: string, call: HostCall): Promise<void> {
    const body = { type: "application/json", bytes: [encoder.encode("{}")] };
    await (await call.ask("POST", `${rootOf(call)}/${id}:cancel`, body)).bytes();
  }

  async #get(id: string, call: HostCall): Promise<JsonObject> {
    return jsonOf(await call.ask("GET", `${rootOf(call)}/${id}`));
  }
}

/** `/v1beta` of `/v1beta/models/MODEL:generateContent`. */
function rootOf({ path }: HostCall): string {
  return path.slice(0, Math.max(0, path.indexOf("/models/")));
}

/** The codes of operations are those of gRPC. */
function refusalOf(key: string, error: JsonObject): HostResult {
  const code = Number(error["code"]);
  if (code === 1) return { key, without: "cancelled" };
  if (code === 4) return { key, without: "expired" };
  const status = STATUSES[code] ?? (code >= 400 && code <= 599 ? code : 500);
  return { key, status, body: JSON.stringify({ error: { ...error, code: status } }) };
}
