/** The messages to servers of tools of a fork: from the tape, and then by the rule of the fork. */
import type { AroundRoute } from "../../../gateway/seams.ts";
import {
  CALL_TOOL,
  INITIALIZE,
  isToolRoute,
  readMessage,
  type ToolMessage,
} from "../../../tapes/tool-message.ts";
import { accepted, alwaysAnswered, errorAnswer, type ToolPlayer } from "../../../tapes/tool-player.ts";
import type { ToolRecorder } from "../../../tapes/tool-recorder.ts";
import type { Rule } from "../flags.ts";
import type { Forking, Found } from "./forking.ts";
import { type LiveRequest, LiveTools } from "./live-tools.ts";
import { refusal, refusedResult } from "./refusals.ts";

/** Name in the scope `endpoints` of keys. */
const ENDPOINT = "tools";
/** Largest message. Bytes. */
const MOST_BYTES = 64 * 1024 ** 2;
/** JSON-RPC code of a message that is not on the tape. */
const MISSED = 1006;

export interface ForkedToolsOptions {
  readonly forking: Forking;
  readonly player: ToolPlayer;
  readonly recorder: ToolRecorder;
  readonly rule: Rule;
}

/** An answer, and the entry of the tape that gave it. */
interface Answered {
  readonly response: Response;
  readonly taped?: number;
}

export class ForkedTools {
  readonly #options: ForkedToolsOptions;
  readonly #live: LiveTools;

  constructor(options: ForkedToolsOptions) {
    this.#options = options;
    this.#live = new LiveTools(options.player.sessions);
  }

  readonly around: AroundRoute = async (visited, next) => {
    const { route, request, visit } = visited;
    if (!isToolRoute(route)) return next();
    const { sessions } = this.#options.player;
    await visit.caller(ENDPOINT);
    if (route.method === "DELETE") return sessions.end(request);
    if (route.method === "GET") {
      visit.allowSilence();
      return sessions.stream(request);
    }
    const bytes = await visit.body(MOST_BYTES);
    const message = readMessage(bytes);
    if (!message) return next({ ...visited, visit: { ...visit, body: async () => bytes } });
    const gone = sessions.refusal(request, message);
    if (gone) return gone;
    let taped: number | undefined;
    const recording = this.#options.recorder.begin(request, bytes, () => taped);
    const answered = await this.#answer({ visited, next, message });
    taped = answered.taped;
    return recording ? recording.answered(answered.response) : answered.response;
  };

  async #answer(live: LiveRequest): Promise<Answered> {
    const { message, visited } = live;
    const { player, forking } = this.#options;
    if (message.id === undefined) return { response: await this.#told(live) };
    const always = alwaysAnswered(message);
    if (always) return { response: always };
    const wanted = player.wanted(visited.request, message);
    const found = forking.message(wanted);
    if ("entry" in found && !(await this.#runsAgain(found, live)))
      return { response: await player.answer(found.entry, message), taped: found.entry.call };
    if (found.kind === "missed") return { response: player.miss(wanted, message) };
    return { response: (await this.#refused(live)) ?? (await this.#sent(live)) };
  }

  /** What wants no answer: the servers that run hear of it, if the client has a session with one. */
  async #told(live: LiveRequest): Promise<Response> {
    const { request } = live.visited;
    const isForServers = live.message.method !== "notifications/initialized" && this.#live.has(request);
    return isForServers ? this.#live.send(live) : accepted();
  }

  /** A tool that changes nothing may be asked again behind the fork; another one of the taped part never runs again. */
  async #runsAgain({ kind }: Found, live: LiveRequest): Promise<boolean> {
    const { method, params } = live.message;
    if (kind !== "again" || method !== CALL_TOOL || this.#options.rule === "tape") return false;
    return this.#live.isReadOnly(live, String(params["name"]));
  }

  /** The answer in place of what the rule does not let run. */
  async #refused(live: LiveRequest): Promise<Response | undefined> {
    const { rule } = this.#options;
    const { id, method = "", params } = live.message;
    const name = method === CALL_TOOL ? String(params["name"]) : method;
    if (rule === "tape") return errorAnswer(id, MISSED, `${refusal(rule, name)}.`, 200);
    if (rule === "live" || method !== CALL_TOOL || (await this.#live.isReadOnly(live, name)))
      return undefined;
    const result = { ...refusedResult(rule, name), ...completed(live.message) };
    const body = JSON.stringify({ jsonrpc: "2.0", id, result });
    return new Response(body, { headers: { "content-type": "application/json" } });
  }

  /** A session that begins behind the fork is a session of the gateway as well. */
  async #sent(live: LiveRequest): Promise<Response> {
    if (live.message.method !== INITIALIZE) return this.#live.send(live);
    return this.#live.begin(live);
  }
}

/** Results of the modern era say that they are whole. */
function completed({ params }: ToolMessage): { resultType?: "complete" } {
  const meta = params["_meta"];
  const isModern =
    typeof meta === "object" && meta !== null && "io.modelcontextprotocol/protocolVersion" in meta;
  return isModern ? { resultType: "complete" } : {};
}
