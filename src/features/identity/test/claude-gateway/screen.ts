/** A terminal in which the client runs: what it shows as plain text, and keys that are pressed. */
export class Screen {
  #text = "";
  readonly #terminal: Bun.Terminal;
  readonly exited: Promise<number>;
  readonly #child: Bun.Subprocess;

  constructor(command: readonly string[], options: { cwd: string; env: Record<string, string> }) {
    const child = Bun.spawn([...command], {
      ...options,
      terminal: {
        ...{ cols: 160, rows: 50 },
        data: (_terminal, bytes) => {
          this.#text += Buffer.from(bytes).toString("utf8");
        },
      },
    });
    this.#terminal = child.terminal!;
    this.exited = child.exited;
    this.#child = child;
  }

  /** All that was shown since the last {@link clear}. */
  get text(): string {
    return plain(this.#text);
  }

  clear(): void {
    this.#text = "";
  }

  press(keys: string): void {
    this.#terminal.write(keys);
  }

  /** @throws Error with the end of what is shown */
  async find(pattern: RegExp, ms = 30_000): Promise<RegExpExecArray> {
    for (const end = Date.now() + ms; ;) {
      const found = pattern.exec(this.text);
      if (found) return found;
      if (Date.now() > end) throw new Error(`${pattern} is not shown:\n${this.text.slice(-3_000)}`);
      await Bun.sleep(50);
    }
  }

  async end(): Promise<void> {
    if (this.#child.exitCode === null) this.#child.kill("SIGKILL");
    await this.exited;
    this.#terminal.close();
  }
}

/** Moves to the right are spaces; other sequences are nothing. */
function plain(text: string): string {
  return text
    .replace(/\x1b\[(\d*)C/g, (_, count: string) => " ".repeat(Number(count || 1)))
    .replace(/\x1b\[\d*G/g, " ")
    .replace(/\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)/g, "")
    .replace(/\x1b\[[0-9;?>=<]*[ -/]*[@-~]/g, "")
    .replace(/\x1b[()][A-Z0-9]|\x1b[=>78cDEM]/g, "")
    .replace(/\r/g, "\n");
}
