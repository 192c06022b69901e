/** A tab as each browser drives it: what {@link BrowserPage} is made of. */

export interface View {
  /** Default: 1440. */
  width?: number;
  /** Default: 900. */
  height?: number;
  dark?: boolean;
  /** Sent with each request, such as `authorization`. */
  headers?: Readonly<Record<string, string>>;
}

/** An answer in place of the server's. `never`: there is none yet; `away`: there is no connection. */
export type Answer =
  | { status?: number; type?: string; headers?: Readonly<Record<string, string>>; body: unknown }
  | "never"
  | "away";

export type Respond = (url: URL, method: string) => Answer | undefined;

/** What a tab does by itself. */
export interface TabEvents {
  /** An error of the console, an exception, or a violation of the content security policy. */
  fault(text: string): void;
  /** @param host `host:port` of a request */
  asked(host: string): void;
}

/** A node of the accessibility tree. */
export interface Spoken {
  readonly role: string;
  readonly name: string;
}

export interface Tab {
  view(view: View): Promise<void>;
  /** Loads an address and waits until its scripts have run. */
  go(url: string): Promise<void>;
  /** @param respond undefined, or undefined from it: the server answers */
  answer(respond: Respond | undefined): Promise<void>;
  /** The value of an expression in the page; a promise is awaited. @throws Error with the exception */
  evaluate(expression: string): Promise<unknown>;
  /** Moves the mouse. */
  hover(x: number, y: number): Promise<void>;
  click(x: number, y: number): Promise<void>;
  /** Types where the focus is. */
  type(text: string): Promise<void>;
  /** @param key `Enter`, `j` @param held `Control`, `Shift` */
  press(key: string, held: readonly string[]): Promise<void>;
  /** What a screen reader says of all that a person can act on; undefined where the browser does not tell. */
  spoken(): Promise<readonly Spoken[] | undefined>;
  /** @param whole also what lies below the window @returns a PNG in base64 */
  screenshot(whole: boolean): Promise<string>;
  close(): Promise<void>;
}

/** The body of an {@link Answer} as text, and its headers. */
export function written(answer: Exclude<Answer, string>): {
  status: number;
  headers: { name: string; value: string }[];
  text: string;
} {
  const { status = 200, type = "application/json", headers = {}, body } = answer;
  return {
    status,
    headers: Object.entries({ "content-type": type, ...headers }).map(([name, value]) => ({ name, value })),
    text: typeof body === "string" ? body : JSON.stringify(body),
  };
}
