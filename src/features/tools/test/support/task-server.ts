/** A modern server over HTTP whose calls may become tasks (SEP-2663), with the tools that the official suite wants of one. */
import { isObject, type JsonObject } from "../../../../core/json.ts";
import { metaOf, NAMED } from "../../wire/revisions.ts";

const TASKS = "io.modelcontextprotocol/tasks";
const REQUIRED = { requiredCapabilities: { extensions: { [TASKS]: {} } } };
const TIMES = { ttlMs: 600_000, createdAt: "2026-11-28T00:00:00Z", lastUpdatedAt: "2026-11-28T00:00:00Z" };

interface Task {
  readonly id: string;
  status: string;
  inputRequests: JsonObject;
  answers: JsonObject;
  end: JsonObject;
  finish(answers: JsonObject): void;
}

export interface TaskServer {
  readonly url: string;
  /** Requests by method, with the task's id. */
  readonly seen: string[];
  readonly tasks: ReadonlyMap<string, unknown>;
  /** Whether `server/discover` declares the extension. */
  declares: boolean;
  stop(): void;
}

const said = (text: string): JsonObject => ({ content: [{ type: "text", text }] });
const question = (message: string): JsonObject => ({
  method: "elicitation/create",
  params: { message, requestedSchema: { type: "object", properties: {} } },
});
const TOOLS = [
  ...["greet", "slow_compute", "confirm_delete", "multi_input"],
  ...["failing_job", "protocol_error_job", "test_tool_with_task", "forges"],
];

class Fault extends Error {
  readonly body: JsonObject;

  constructor(code: number, message: string, data?: JsonObject) {
    super(message);
    this.body = { code, message, ...(data && { data }) };
  }
}

export function taskServer(): TaskServer {
  const tasks = new Map<string, Task>();
  const listeners = new Map<string, Set<(told: JsonObject) => void>>();
  const seen: string[] = [];
  const detailed = ({ id, status, inputRequests, end }: Task): JsonObject => ({
    ...{ taskId: id, status, ...TIMES, pollIntervalMs: 100, ...end },
    ...(status === "input_required" && { inputRequests }),
  });
  const become = (task: Task, status: string, end: JsonObject = {}): void => {
    if (["completed", "failed", "cancelled"].includes(task.status)) return;
    Object.assign(task, { status, end });
    for (const tell of listeners.get(task.id) ?? []) tell(detailed(task));
  };
  const create = (
    inputRequests: JsonObject,
    finish: (task: Task, answers: JsonObject) => void,
  ): JsonObject => {
    const id = `task-${tasks.size + 1}`;
    const status = Object.keys(inputRequests).length > 0 ? "input_required" : "working";
    const task: Task = {
      ...{ id, status, inputRequests, answers: {}, end: {} },
      finish: (answers) => finish(task, answers),
    };
    tasks.set(id, task);
    if (status === "working") finish(task, {});
    return { resultType: "task", taskId: id, status: "working", ...TIMES, pollIntervalMs: 100 };
  };
  const done = (task: Task, result: JsonObject) => become(task, "completed", { result });
  const call = (name: string, args: JsonObject, params: JsonObject, hasTasks: boolean): JsonObject => {
    switch (name) {
      case "greet":
        return said(`Hello, ${String(args["name"])}!`);
      case "slow_compute":
        if (!hasTasks) return said("computed");
        return create({}, (task) => {
          setTimeout(() => done(task, said("computed")), Number(args["seconds"]) * 1_000).unref();
        });
      case "confirm_delete":
        return create({ ok: question("Delete?") }, (task) => done(task, said("deleted")));
      case "multi_input":
        return create({ a: question("a?"), b: question("b?") }, (task) => done(task, said("both")));
      case "failing_job":
        if (!hasTasks) throw new Fault(-32021, "tasks", REQUIRED);
        return create({}, (task) => done(task, { ...said("no"), isError: true }));
      case "protocol_error_job":
        return create({}, (task) => become(task, "failed", { error: { code: -32603, message: "broken" } }));
      case "forges":
        return create({}, () => {});
      default: {
        const given = params["inputResponses"];
        if (!isObject(given))
          return { resultType: "input_required", inputRequests: { user_name: question("Name?") } };
        return create({}, (task) => done(task, said(JSON.stringify(given))));
      }
    }
  };
  const update = (task: Task, responses: JsonObject): void => {
    for (const [key, value] of Object.entries(responses)) {
      if (!(key in task.inputRequests)) continue;
      task.answers[key] = value;
      delete task.inputRequests[key];
    }
    if (task.status === "input_required" && Object.keys(task.inputRequests).length === 0)
      task.finish(task.answers);
  };
  const ofTask = (method: string, params: JsonObject, hasTasks: boolean): JsonObject => {
    if (!hasTasks) throw new Fault(-32021, "tasks", REQUIRED);
    const task = tasks.get(String(params["taskId"]));
    if (!task) throw new Fault(-32602, `there is no task ${String(params["taskId"])}`);
    if (method === "tasks/get") return detailed(task);
    if (method === "tasks/cancel") become(task, "cancelled");
    else update(task, (params["inputResponses"] ?? {}) as JsonObject);
    return {};
  };
  const answer = (method: string, params: JsonObject, hasTasks: boolean): JsonObject => {
    switch (method) {
      case "server/discover": {
        const extensions = server.declares ? { [TASKS]: {} } : {};
        const capabilities = { tools: { listChanged: true }, extensions };
        return { supportedVersions: ["2026-07-28"], capabilities, ttlMs: 0, cacheScope: "private" };
      }
      case "tools/list": {
        const all = TOOLS.map((name) => ({ name, inputSchema: { type: "object" } }));
        return { tools: all, ttlMs: 0, cacheScope: "private" };
      }
      case "tools/call":
        return call(String(params["name"]), (params["arguments"] ?? {}) as JsonObject, params, hasTasks);
      case "tasks/get":
      case "tasks/update":
      case "tasks/cancel":
        return ofTask(method, params, hasTasks);
      default:
        throw new Fault(-32601, "Method not found");
    }
  };
  const http = Bun.serve({
    ...{ port: Number(process.env["PORT"] ?? 0), hostname: "127.0.0.1", idleTimeout: 0 },
    async fetch(request) {
      const { id, method, params } = (await request.json()) as {
        id: number;
        method: string;
        params: JsonObject;
      };
      seen.push([method, params["taskId"] ?? params["name"]].filter(Boolean).join(" "));
      const meta = metaOf(params);
      const { extensions } = (meta["io.modelcontextprotocol/clientCapabilities"] ?? {}) as JsonObject;
      const hasTasks = isObject(extensions) && TASKS in extensions;
      const reply = (answered: JsonObject, status = 200) =>
        Response.json({ jsonrpc: "2.0", id, ...answered }, { status });
      if (request.headers.get("mcp-method") !== method)
        return reply({ error: { code: -32020, message: "HeaderMismatch" } }, 400);
      const member = NAMED[method];
      const named = member === undefined ? undefined : params[member];
      if (named !== undefined && request.headers.get("mcp-name") !== named)
        return reply({ error: { code: -32020, message: "HeaderMismatch" } }, 400);
      if (method === "subscriptions/listen") {
        const { taskIds = [] } = params["notifications"] as { taskIds?: string[] };
        return taskIds.length > 0 && !hasTasks
          ? reply({ error: { code: -32021, message: "tasks" } }, 400)
          : streaming(taskIds, listeners);
      }
      try {
        return reply({ result: { resultType: "complete", ...answer(method, params, hasTasks) } });
      } catch (thrown) {
        return reply({ error: (thrown as Fault).body });
      }
    },
  });
  const server: TaskServer = {
    ...{ url: `http://127.0.0.1:${http.port}/mcp`, seen, tasks, declares: true },
    stop: () => void http.stop(true),
  };
  return server;
}

function streaming(taskIds: string[], listeners: Map<string, Set<(told: JsonObject) => void>>): Response {
  let tell: (told: JsonObject) => void;
  const body = new ReadableStream<string>({
    start(controller) {
      const send = (method: string, params: JsonObject) =>
        controller.enqueue(`data: ${JSON.stringify({ jsonrpc: "2.0", method, params })}\n\n`);
      tell = (told) => send("notifications/tasks", told);
      send("notifications/subscriptions/acknowledged", { notifications: { taskIds } });
      for (const id of taskIds) listeners.set(id, (listeners.get(id) ?? new Set()).add(tell));
    },
    cancel() {
      for (const id of taskIds) listeners.get(id)?.delete(tell);
    },
  });
  return new Response(body, { headers: { "content-type": "text/event-stream" } });
}

if (import.meta.main) console.log(taskServer().url);
