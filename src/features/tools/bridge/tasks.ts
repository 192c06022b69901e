/**
 * Calls that go on after their answer (extension `io.modelcontextprotocol/tasks`, SEP-2663), where client and server are of the
 * modern era and both have it. The id of a task leaves weir sealed for the caller: at the server it may be good for anybody.
 */
import type { JsonObject } from "../../../core/json.ts";
import type { Caller } from "../asks.ts";
import type { Connection } from "../servers/connection.ts";
import { invalidAnswer } from "../servers/http.ts";
import type { Server } from "../servers/server.ts";
import { type Answered, CODE, McpError } from "../wire/messages.ts";
import { hasTasks, TASKS } from "../wire/tasks.ts";
import type { Exchange, Forwarded } from "./exchange.ts";
import type { Seal } from "./seal.ts";
import { isPermitted } from "./usable.ts";
import type { View } from "./view.ts";

const METHODS: ReadonlySet<string> = new Set(["tasks/get", "tasks/update", "tasks/cancel"]);
/** Longest id of a server: with it sealed, headers of requests stay small. Characters. */
const MOST_ID = 1_024;
/** Most tasks of which one client hears in a stream: each is a stream at its server. */
const MOST_HEARD = 64;

export function isTaskMethod(method: string): boolean {
  return METHODS.has(method);
}

/** A task of a caller. */
export interface TaskPlace {
  readonly server: Server;
  /** Its id at the server. */
  readonly id: string;
}

/** The tasks of which a client hears: its ids, by those of the server, by the names of servers. */
export type HeardTasks = ReadonlyMap<string, ReadonlyMap<string, string>>;

export class Tasks {
  readonly #seal: Seal;

  constructor(seal: Seal) {
    this.#seal = seal;
  }

  /** @throws McpError for all that is no task of the caller: no caller learns which tasks others have */
  open(exchange: Exchange, view: View, given: unknown): TaskPlace {
    requireTasks(exchange);
    if (typeof given !== "string") throw new McpError(CODE.params, "params.taskId must be a string");
    const place = this.#opened(exchange.caller, view, given);
    if (!place) throw unknownTask(given);
    return place;
  }

  /** The tasks of the caller among those that it wants to hear of. @throws McpError if it has no tasks at all */
  heard(exchange: Exchange, view: View, { taskIds }: JsonObject): HeardTasks {
    const heard = new Map<string, Map<string, string>>();
    if (!Array.isArray(taskIds)) return heard;
    requireTasks(exchange);
    for (const given of taskIds.slice(0, MOST_HEARD)) {
      const place = typeof given === "string" ? this.#opened(exchange.caller, view, given) : undefined;
      if (!place) continue;
      const { name } = place.server;
      heard.set(name, (heard.get(name) ?? new Map<string, string>()).set(place.id, given as string));
    }
    return heard;
  }

  /** An answer that may be a new task. @throws McpError 1005 for a task that the client cannot have */
  created(exchange: Exchange, connection: Connection, asked: Forwarded, answered: Answered): Answered {
    if ("error" in answered || answered.result["resultType"] !== "task") return answered;
    const { server, method, params } = asked;
    const { taskId } = answered.result;
    const isAgreed = hasTasks(exchange.client.capabilities) && hasTasks(connection.facts.capabilities);
    if (exchange.era === "legacy" || connection.era === "legacy" || !isAgreed || method !== "tools/call")
      throw invalidAnswer(server, `answered ${method} with a task, which was not agreed on`);
    if (typeof taskId !== "string" || taskId === "" || taskId.length > MOST_ID)
      throw invalidAnswer(server, "answered with a task whose taskId is no text, or too long");
    const sealed = { task: taskId, server, caller: exchange.caller.id, tool: params["name"]! };
    return { result: { ...answered.result, taskId: `${server}+${this.#seal.close(sealed)}` } };
  }

  #opened(caller: Caller, view: View, given: string): TaskPlace | undefined {
    const at = given.indexOf("+");
    const server = view.servers.find(({ name }) => name === given.slice(0, at));
    const opened = server && this.#seal.open(given.slice(at + 1));
    if (!opened || opened["server"] !== server.name || opened["caller"] !== caller.id) return undefined;
    const { task, tool } = opened;
    // What the caller may no more call is no more its own.
    if (typeof task !== "string" || !isPermitted(server, String(tool), caller.tools)) return undefined;
    return { server, id: task };
  }
}

/** The answer to a request for a task, with the id that the client knows. @throws McpError 1005 */
export function answeredOf(
  method: string,
  given: string,
  { server, id }: TaskPlace,
  answered: Answered,
): Answered {
  if ("error" in answered) {
    const { error } = answered;
    // One that the server has forgotten is as unknown as one that never was; answers of a client can have other faults.
    if (error.code === CODE.params && method !== "tasks/update") return { error: unknownTask(given).rpc };
    return { error: { ...error, message: error.message.replaceAll(id, given) } };
  }
  const { result } = answered;
  if (result["resultType"] !== "complete")
    throw invalidAnswer(server.name, "answered a request for a task with another result");
  return "taskId" in result ? { result: { ...result, taskId: given } } : answered;
}

export function unknownTask(given: string): McpError {
  return new McpError(CODE.params, `Unknown task: ${given}`);
}

function requireTasks({ client }: Exchange): void {
  if (hasTasks(client.capabilities)) return;
  throw new McpError(CODE.capability, `the client has not declared the extension ${TASKS}`, {
    status: 400,
    data: { requiredCapabilities: { extensions: { [TASKS]: {} } } },
  });
}

/** What a client that listens hears of a task. @returns undefined if the task is not one that it wants */
export function toldOf(heard: HeardTasks, server: string, params: JsonObject): JsonObject | undefined {
  const taskId = heard.get(server)?.get(String(params["taskId"]));
  return taskId === undefined ? undefined : { ...params, taskId };
}
