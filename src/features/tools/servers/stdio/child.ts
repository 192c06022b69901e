/** One running program of a server, and the lines between it and weir. */
import type { FileSink } from "bun";
import type { JsonObject } from "../../../../core/json.ts";
import { limitText, printable, recordedName } from "../../../../core/printable.ts";
import { describeFileError } from "../../../../core/system-error.ts";
import { endsWithin } from "../../../../core/within.ts";
import type { Child, ServiceHost } from "../../../../service/seams.ts";
import type { RequestId } from "../../wire/messages.ts";
import { unreachable } from "../http.ts";
import { LINE_BYTES, type Line, LineBuffer, LineTooLong, readLine } from "./lines.ts";
import { Pace, type Rate } from "./pace.ts";
import { Ring } from "./ring.ts";

/** Variables of the process that a program has too. */
const INHERITED = ["PATH", "LANG", "TZ"] as const;
/** After this many lines that are no messages it is stopped: it is not a server. */
const MOST_OTHER_LINES = 100;
const STDERR_BYTES = 64 * 1024;
/** Input that a program has not read yet. Bytes. */
const QUEUE_BYTES = 16 * 1024 * 1024;
/** How long output may come after the end of the program. Milliseconds. */
const DRAIN_MS = 500;
const LOG_EVERY_MS = 60_000;
/** Messages that nobody waits for, each 4 KiB of them once more. */
const MESSAGES: Rate = { burst: 4000, perSecond: 2000 };
const UNIT_BYTES = 4096;
const STDERR: Rate = { burst: 1024 * 1024, perSecond: 1024 * 1024 };

export interface Program {
  /** Name of the server. */
  readonly server: string;
  /** The program with its arguments; no shell reads them. */
  readonly command: readonly string[];
  /** Variables besides {@link INHERITED}. */
  readonly env: Readonly<Record<string, string>>;
  /** Where it runs. */
  readonly folder: string;
}

export interface ChildEvents {
  /** @returns whether it was waited for */
  message(message: JsonObject): boolean;
  /** A message that is not read. @param id its own, or that of the request that it answers @param why as in {@link Line} */
  unreadable(id: RequestId | undefined, why: string): void;
  /** It has ended, or cannot be used any more, without {@link RunningChild.stop}. @param why a clause: `it ended with exit code 1` */
  ended(why: string): void;
}

/** Where messages go: a program, or something that brings messages as one does. */
export interface MessageChannel {
  /** What it said last that is no message. */
  readonly errors: string;
  /** @throws McpError 1002 if it takes no more */
  send(message: object): void;
  stop(): Promise<void>;
}

/** Time for a program to end by itself, then for the signal to end it. Milliseconds. */
export type Grace = readonly [close: number, terminate: number];
export const GRACE: Grace = [2000, 3000];

export class RunningChild implements MessageChannel {
  readonly #program: Program;
  readonly #host: Pick<ServiceHost, "info" | "fault">;
  readonly #grace: Grace;
  readonly #child: Child;
  readonly #events: ChildEvents;
  readonly #errors = new Ring(STDERR_BYTES);
  readonly #output: ReadableStreamDefaultReader<Uint8Array>;
  readonly #errorOutput: ReadableStreamDefaultReader<Uint8Array>;
  #queued = 0;
  #otherLines = 0;
  #logged = -Infinity;
  /** It has ended, or weir ends it. */
  #isOver = false;
  #stopping: Promise<void> | undefined;

  /** @throws McpError 1002 if it cannot be started */
  constructor(
    host: Pick<ServiceHost, "spawn" | "info" | "fault">,
    program: Program,
    events: ChildEvents,
    grace: Grace = GRACE,
  ) {
    this.#program = program;
    this.#host = host;
    this.#events = events;
    this.#grace = grace;
    this.#child = spawn(host, program);
    // Until its first read, Bun keeps everything that comes.
    this.#output = this.#child.stdout.getReader();
    this.#errorOutput = this.#child.stderr.getReader();
    void this.#run();
    void this.#readErrors();
  }

  get pid(): number {
    return this.#child.pid;
  }

  /** What it wrote last to its standard error, at most 64 KiB. */
  get errors(): string {
    return this.#errors.text;
  }

  /** @throws McpError 1002 if it does not read, or has ended */
  send(message: object): void {
    const line = `${JSON.stringify(message)}\n`;
    const bytes = Buffer.byteLength(line);
    const { server } = this.#program;
    if (this.#isOver) throw unreachable(server, "it has ended");
    if (this.#queued > 0 && this.#queued + bytes > QUEUE_BYTES)
      throw unreachable(server, "it does not read what weir sends to it");
    this.#queued += bytes;
    // An input that is closed is noticed by the end of the program.
    settled([() => this.#child.stdin.write(line), () => this.#child.stdin.flush()]).finally(() => {
      this.#queued -= bytes;
    });
  }

  /** Closes its input, then ends it. What is left of its group is killed when this resolves. */
  stop(): Promise<void> {
    this.#isOver = true;
    return (this.#stopping ??= this.#stop());
  }

  async #stop(): Promise<void> {
    const { exited, signal, stdin } = this.#child;
    const [closeMs, terminateMs] = this.#grace;
    void settled([() => stdin.end()]);
    if (!(await endsWithin(exited, closeMs))) {
      signal("SIGTERM");
      if (!(await endsWithin(exited, terminateMs))) signal("SIGKILL");
    }
    await exited;
    // A process outside of the group may hold them open.
    await Promise.allSettled([this.#output.cancel(), this.#errorOutput.cancel()]);
  }

  /** @param why see {@link ChildEvents.ended} */
  #end(why: string): void {
    if (this.#isOver) return;
    void this.stop();
    this.#events.ended(why);
  }

  async #run(): Promise<void> {
    const reading = this.#read();
    const { code, signal } = await Promise.race([
      this.#child.exited,
      // Nobody can hear a program that has closed its output.
      reading.then(() => Bun.sleep(DRAIN_MS)).then(() => ({ code: null, signal: null })),
    ]);
    if (code === null && signal === null) return this.#end("it closed its output");
    await endsWithin(reading, DRAIN_MS);
    this.#end(signal === null ? `it ended with exit code ${code}` : `it was ended by the signal ${signal}`);
  }

  async #read(): Promise<void> {
    const buffer = new LineBuffer();
    const pace = new Pace(MESSAGES);
    try {
      for (;;) {
        const { value, done } = await this.#output.read();
        if (done) return;
        pace.begin();
        for (const line of buffer.take(value)) {
          pace.spend(this.#take(line));
          for (let rest = pace.rest(); rest; rest = pace.rest()) await rest;
          if (this.#isOver) return;
        }
      }
    } catch (cause) {
      const isLong = cause instanceof LineTooLong;
      this.#end(isLong ? `it printed a line of more than ${LINE_BYTES} bytes` : "its output broke");
    }
  }

  /** @returns what the line costs, in units of {@link MESSAGES} */
  #take(bytes: Uint8Array): number {
    const line = readLine(bytes);
    const size = bytes.length / UNIT_BYTES;
    if (line.kind === "told") {
      const unexpected = line.messages.filter((message) => !this.#tell(message));
      return unexpected.length === 0 ? 0 : unexpected.length + size;
    }
    if (line.kind !== "blank") this.#other(bytes, line);
    return 1 + size;
  }

  /** A fault of weir is none of the program. */
  #tell(message: JsonObject): boolean {
    try {
      return this.#events.message(message);
    } catch (cause) {
      this.#host.fault(`a message of the server ${this.#program.server} was lost: ${String(cause)}`);
      return false;
    }
  }

  #other(bytes: Uint8Array, line: Exclude<Line, { kind: "told" | "blank" }>): void {
    const { why } = line;
    if (performance.now() - this.#logged > LOG_EVERY_MS) {
      this.#logged = performance.now();
      const text = limitText(Buffer.from(bytes.subarray(0, 1024)).toString("utf8"), 200);
      this.#host.info(
        `the server ${this.#program.server} printed a line that ${why}: ${recordedName(printable(text))}`,
      );
    }
    if (line.kind === "unread") this.#events.unreadable(line.id, line.why);
    if (++this.#otherLines >= MOST_OTHER_LINES)
      this.#end(`it printed ${MOST_OTHER_LINES} lines that are no messages`);
  }

  async #readErrors(): Promise<void> {
    const pace = new Pace(STDERR);
    try {
      for (;;) {
        const { value, done } = await this.#errorOutput.read();
        if (done) return;
        pace.begin();
        this.#errors.add(value);
        pace.spend(value.length);
        for (let rest = pace.rest(); rest; rest = pace.rest()) await rest;
      }
    } catch {
      // What it wrote is lost; the program may go on.
    }
  }
}

/** @throws McpError 1002 */
function spawn(host: Pick<ServiceHost, "spawn">, { server, command, env, folder }: Program): Child {
  const inherited = INHERITED.flatMap((name) => {
    const value = process.env[name];
    return value === undefined ? [] : [[name, value] as const];
  });
  // Starting a program takes no turn of the event loop, so nothing else is created under this mask.
  const mask = process.umask(0o077);
  try {
    return host.spawn(command, { cwd: folder, env: { ...Object.fromEntries(inherited), ...env } });
  } catch (cause) {
    throw unreachable(server, `${command[0]} cannot be started: ${describeFileError(cause)}`);
  } finally {
    process.umask(mask);
  }
}

/** Does things with the input of a program, which may fail when it ends. */
async function settled(steps: readonly (() => ReturnType<FileSink["end"]>)[]): Promise<void> {
  await Promise.allSettled(steps.map(async (step) => step()));
}
