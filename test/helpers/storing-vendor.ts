/**
 * A fake vendor that stores its answers as OpenAI does: requests may refer to items of earlier answers of the account, whichever
 * of its users asked for them.
 */
import { json, sse, startUpstream, type Answer, type Upstream, type UpstreamRequest } from "./upstream.ts";

interface Item {
  id: string;
  type: string;
  [member: string]: unknown;
}

interface Asked {
  input?: string | Record<string, unknown>[];
  store?: boolean;
  stream?: boolean;
  background?: boolean;
}

export interface StoringVendor extends Upstream {
  /** The bodies that it got, the last one at the end. */
  readonly bodies: Asked[];
}

export function startStoringVendor(): StoringVendor {
  const items = new Map<string, Item>();
  const answers = new Map<string, object>();
  const bodies: Asked[] = [];
  let count = 0;

  const unknown = (id: string): Answer =>
    json(
      {
        error: {
          message: `Item with id '${id}' not found.`,
          ...{ type: "invalid_request_error", param: "input", code: null },
        },
      },
      404,
    );

  const generate = (asked: Asked): Answer => {
    bodies.push(asked);
    const given = Array.isArray(asked.input) ? asked.input : [];
    const read: string[] = [];
    for (const { type, id, ...rest } of given) {
      const isReference = type === "item_reference" || (type == null && rest["role"] == null);
      const isPartial = type === "reasoning" && rest["encrypted_content"] == null;
      const isImage = type === "image_generation_call" && rest["result"] == null;
      if (!isReference && !isPartial && !isImage) continue;
      const item = items.get(String(id));
      if (!item) return unknown(String(id));
      read.push(String(item["secret"]));
    }
    const number = ++count;
    const secret = `secret of answer ${number}`;
    const made: Item[] = [
      { id: `rs_${number}`, type: "reasoning", summary: [], encrypted_content: null },
      {
        ...{ id: `msg_${number}`, type: "message", role: "assistant", status: "completed" },
        content: [{ type: "output_text", text: `read: ${read.join(", ")}`, annotations: [] }],
      },
      { id: `ig_${number}`, type: "image_generation_call", status: "completed", result: "aGk=" },
    ];
    const isStored = asked.store !== false;
    if (isStored) for (const item of made) items.set(item.id, { ...item, secret });
    const usage = {
      ...{ input_tokens: 3, input_tokens_details: {}, output_tokens: 2, output_tokens_details: {} },
      total_tokens: 5,
    };
    const whole = {
      ...{ id: `resp_${number}`, object: "response", created_at: 1, status: "completed", model: "m" },
      ...{ store: isStored, error: null, output: made, usage },
    };
    answers.set(whole.id, whole);
    if (asked.background) return json({ ...whole, status: "queued", output: [], usage: null });
    if (!asked.stream) return json(whole);
    const events = [
      { type: "response.created", response: { ...whole, status: "in_progress", output: [], usage: null } },
      ...made.flatMap((item, output_index) => [
        { type: "response.output_item.added", output_index, item },
        { type: "response.output_item.done", output_index, item },
      ]),
      // Some hosts leave the items out of the last event.
      { type: "response.completed", response: { ...whole, output: [] } },
    ];
    return sse(
      events.map(
        (event, index) =>
          `event: ${event.type}\ndata: ${JSON.stringify({ ...event, sequence_number: index })}\n\n`,
      ),
    );
  };

  const answerOf = ({ method, path, body }: UpstreamRequest): Answer => {
    if (method === "POST") return generate(JSON.parse(body.toString()) as Asked);
    const [, id, below] = /\/responses\/([^/?]+)(\/input_items)?/.exec(path)!;
    if (!below) return json(answers.get(id!) ?? {}, answers.has(id!) ? 200 : 404);
    const item = { id: `msg_in_${id}`, type: "message", role: "user", content: [] };
    items.set(item.id, { ...item, secret: `input of ${id}` });
    return json({
      ...{ object: "list", data: [item], first_id: item.id },
      ...{ last_id: item.id, has_more: false },
    });
  };
  return Object.assign(startUpstream(answerOf), { bodies });
}
