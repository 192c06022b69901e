/** Reads which tools an answer calls that weir passes on as it came, when it has ended. Who gets the answer does not wait for it. */
import type { GatewayError } from "../../../core/error.ts";
import { type ByteSource, Passed } from "../../../gateway/delivery/stream.ts";
import type { Opened } from "../../../gateway/lanes/lane.ts";
import { eventsOf } from "../../../gateway/recording/events.ts";
import type { Entry } from "../../../gateway/seams.ts";
import { hasCalls, layoutIn, noteCall, noteUnread } from "./note.ts";

/** Longest answer that is read. Characters. */
const MOST = 8_388_608;

/** @returns the same answer; one without tools, or which the hook sees, passes as it is */
export function watched(entry: Entry, opened: Opened): Opened {
  const { call, arrival } = entry;
  const tools = layoutIn(call)?.tools;
  if (!arrival || call.attempt?.lane !== "native" || !tools?.length) return opened;
  if (opened.kind === "stream")
    return { ...opened, source: new WatchedSource(opened.source, (text) => read(entry, text, true)) };
  if (!opened.error)
    read(entry, typeof opened.body === "string" ? opened.body : DECODER.decode(opened.body), false);
  return opened;
}

const DECODER = new TextDecoder();

/** @param text undefined: it was too long */
function read(entry: Entry, text: string | undefined, isStream: boolean): void {
  const { call, arrival, format } = entry;
  // The hook has seen an answer that weir converts.
  if (hasCalls(call)) return;
  if (text === undefined) return noteUnread(call);
  const { tools } = layoutIn(call)!;
  // Few answers call tools, and this is cheaper than reading the others.
  if (!tools.some(({ name }) => text.includes(JSON.stringify(name).slice(0, -1)))) return;
  const { provider, model } = call.attempt!.target;
  const recorded = {
    ...{ call: 0, operation: "generate", format: format.id, stream: isStream, status: 200, headers: {} },
    ...{ request: { model: "", lines: [], options: {} }, answer: [text], ...(isStream && { ms: [0] }) },
    from: { provider: provider.name, model },
  };
  const taped = {
    ...{ call, operation: "generate" as const, client: arrival!.client, body: {} },
    formats: entry.registry.formats,
  };
  try {
    const { events, failure } = eventsOf(recorded, taped);
    for (const { event } of events)
      if (event.type === "block-start" && event.block.type === "tool-call") noteCall(call, event.block.name);
    if (failure && call.error === undefined && !call.abortReason) noteUnread(call);
  } catch {
    noteUnread(call);
  }
}

/** Passes a stream on as it is. */
class WatchedSource extends Passed {
  readonly #read: (text: string | undefined) => void;
  readonly #decoder = new TextDecoder();
  #text = "";
  #isRead = false;

  constructor(inner: ByteSource, read: (text: string | undefined) => void) {
    super(inner);
    this.#read = read;
  }

  override piece(bytes: Uint8Array): void {
    if (this.#text.length <= MOST) this.#text += this.#decoder.decode(bytes, { stream: true });
    super.piece(bytes);
  }

  override end(): void {
    this.#finish();
    super.end();
  }

  override fail(thrown: unknown): void {
    this.#finish();
    super.fail(thrown);
  }

  override writeError(error: GatewayError) {
    this.#finish();
    return super.writeError(error);
  }

  override stop(reason: unknown): void {
    this.#finish();
    super.stop(reason);
  }

  #finish(): void {
    if (this.#isRead) return;
    this.#isRead = true;
    this.#read(this.#text.length > MOST ? undefined : this.#text);
    this.#text = "";
  }
}
