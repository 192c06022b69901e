/** The batch APIs of Azure and Mistral on loopback, which differ from OpenAI's in paths, names and states. */
import { type Answer, json, startUpstream, type UpstreamRequest } from "../../../../test/helpers/upstream.ts";
import { completion, saidIn } from "./fake-openai.ts";

type Body = Parameters<typeof saidIn>[0];

export interface FamilyLine {
  readonly custom_id: string;
  readonly method?: string;
  readonly url?: string;
  readonly body: Body;
}

export interface FamilyBatch {
  readonly id: string;
  /** What created it. */
  readonly wanted: Readonly<Record<string, unknown>>;
  readonly lines: readonly FamilyLine[];
  state: "working" | "done" | "expired" | "cancelled";
  looks: number;
  output: string | undefined;
  errors: string | undefined;
}

/** How a vendor's API looks. */
export interface Flavour {
  /** Behind the address. */
  readonly root: string;
  readonly batches: string;
  /** Query of each request. */
  readonly query: string;
  readonly key: readonly [header: string, value: string];
  /** Looks at a file until a batch may have it. */
  readonly reads: number;
  /** The file of a batch; undefined: the body does not create one. */
  inputOf(wanted: Readonly<Record<string, unknown>>): string | undefined;
  /** Whether a line fits the batch. */
  fits(line: FamilyLine, wanted: Readonly<Record<string, unknown>>): boolean;
  shape(batch: FamilyBatch): object;
  list(batches: readonly FamilyBatch[], query: URLSearchParams): object;
}

const azure: Omit<Flavour, "root" | "query"> = {
  batches: "/batches",
  key: ["api-key", "k-azure-0123456789"],
  reads: 2,
  inputOf: ({ input_file_id: file, completion_window: window }) =>
    window === "24h" && typeof file === "string" ? file : undefined,
  fits: ({ method, url, body }, { endpoint }) =>
    method === "POST" && url === endpoint && url === "/chat/completions" && body.model === "eu-gpt",
  shape: ({ id, wanted, state, output, errors }) => ({
    ...{ object: "batch", ...wanted, id, created_at: new Date().toISOString(), errors: null },
    status: { working: "InProgress", done: "Completed", expired: "expired", cancelled: "Cancelled" }[state],
    ...{ output_file_id: output ?? null, error_file_id: errors ?? null },
  }),
  list: (batches) => ({ data: batches.map(azure.shape), has_more: false }),
};

export const FLAVOURS = {
  azure: { ...azure, root: "/openai/v1", query: "" },
  "azure-dated": { ...azure, root: "/openai", query: "?api-version=2024-10-21" },
  mistral: {
    ...{ root: "/v1", batches: "/batch/jobs", query: "", reads: 0 },
    key: ["authorization", "Bearer k-mistral-0123456789"],
    inputOf: ({ input_files: files, model, timeout_hours: hours }) =>
      Array.isArray(files) && files.length === 1 && model === "mistral-small" && hours === 24
        ? String(files[0])
        : undefined,
    fits: ({ method, url, body }, { endpoint, model }) =>
      method === undefined &&
      url === undefined &&
      endpoint === "/v1/chat/completions" &&
      body.model === model,
    shape: ({ id, wanted, state, lines, output, errors }) => ({
      ...{ object: "batch", ...wanted, id, created_at: Math.floor(Date.now() / 1_000), errors: [] },
      status: {
        ...{ working: "RUNNING", done: "SUCCESS", expired: "TIMEOUT_EXCEEDED", cancelled: "CANCELLED" },
      }[state],
      ...{ output_file: output ?? null, error_file: errors ?? null },
      ...{ total_requests: lines.length, completed_requests: 0, succeeded_requests: 0, failed_requests: 0 },
    }),
    list(batches, query) {
      const [page, size] = [Number(query.get("page")), Number(query.get("page_size"))];
      const data = batches.slice(page * size, (page + 1) * size);
      return { object: "list", total: batches.length, data: data.map((one) => this.shape(one)) };
    },
  },
} as const satisfies Record<string, Flavour>;

export class FakeFamily {
  readonly files = new Map<string, { content: string; looks: number }>();
  readonly batches: FamilyBatch[] = [];
  readonly billed = new Map<string, number>();
  /** What it does not know: requests that no vendor would take. */
  readonly wrong: string[] = [];
  /** Ordinary calls. */
  called = 0;
  /** Looks at a batch before it ends. */
  looks = 1;
  /** Creations whose answer is lost; the batch exists. */
  loses = 0;
  /** Batches answer half of their lines, and let the others expire. */
  expires = false;
  readonly #flavour: Flavour;
  readonly #upstream = startUpstream((request) => this.#checked(request));
  #made = 0;

  constructor(flavour: Flavour) {
    this.#flavour = flavour;
  }

  get url(): string {
    return this.#upstream.url + this.#flavour.root;
  }

  stop(): void {
    this.#upstream.stop();
  }

  #checked(request: UpstreamRequest): Answer {
    const { root, key, query } = this.#flavour;
    const [header, value] = key;
    const asked = new URL(request.path, "http://host");
    const version = new URLSearchParams(query).get("api-version");
    const isKnown =
      asked.pathname.startsWith(`${root}/`) &&
      asked.searchParams.get("api-version") === version &&
      request.headers.get(header) === value;
    const answer = isKnown && this.#answer(request, asked.pathname.slice(root.length), asked.searchParams);
    if (answer) return answer;
    this.wrong.push(`${request.method} ${request.path}`);
    return json({ error: { code: "404", message: "Resource not found" } }, 404);
  }

  #answer({ method, body }: UpstreamRequest, path: string, query: URLSearchParams): Answer | undefined {
    const { batches, shape, list } = this.#flavour;
    const id = /(?:file|batch)-[0-9]+/.exec(path)?.[0] ?? "";
    const file = this.files.get(id);
    const batch = this.batches.find((one) => one.id === id);
    switch (`${method} ${path.replace(batches, "/BATCHES").replace(/(?:file|batch)-[0-9]+/, "ID")}`) {
      case "POST /files":
        return this.#upload(body.toString());
      case "GET /files/ID":
        file!.looks++;
        return json(this.#fileOf(id));
      case "GET /files/ID/content":
        return { headers: { "content-type": "application/octet-stream" }, body: file!.content };
      case "POST /BATCHES":
        return this.#create(JSON.parse(body.toString()) as Record<string, unknown>);
      case "GET /BATCHES":
        return json(list.call(this.#flavour, this.batches.toReversed(), query));
      case "GET /BATCHES/ID":
        if (batch!.state === "working" && ++batch!.looks > this.looks)
          this.#end(batch!, this.expires ? "expired" : "done");
        return json(shape(batch!));
      case "POST /BATCHES/ID/cancel":
        if (batch!.state === "working") this.#end(batch!, "cancelled");
        return json(shape(batch!));
    }
    if (path.endsWith("/chat/completions")) this.called++;
    return undefined;
  }

  #upload(form: string): Answer {
    const content = /filename="[^"]+\.jsonl"\r\n[^\r]*\r\n\r\n([^]*?)\r\n--/.exec(form)?.[1];
    if (content === undefined || !/name="purpose"\r\n\r\nbatch\r\n/.test(form))
      return json({ error: { message: "form" } }, 400);
    const id = `file-${++this.#made}`;
    this.files.set(id, { content, looks: 0 });
    return json(this.#fileOf(id), 201);
  }

  #fileOf(id: string): object {
    const { looks } = this.files.get(id)!;
    return { id, object: "file", purpose: "batch", status: this.#isRead(looks) ? "processed" : "pending" };
  }

  #isRead(looks: number): boolean {
    return looks >= this.#flavour.reads;
  }

  #create(wanted: Readonly<Record<string, unknown>>): Answer {
    const file = this.files.get(this.#flavour.inputOf(wanted) ?? "");
    if (!file || !this.#isRead(file.looks)) return json({ error: { message: "no such file yet" } }, 400);
    const lines = file.content
      .split("\n")
      .filter(Boolean)
      .map((line) => JSON.parse(line) as FamilyLine);
    if (!lines.every((line) => this.#flavour.fits(line, wanted)))
      return json({ error: { message: "a line does not fit" } }, 400);
    const batch: FamilyBatch = {
      ...{ id: `batch-${++this.#made}`, wanted, lines, state: "working", looks: 0 },
      ...{ output: undefined, errors: undefined },
    };
    this.batches.push(batch);
    if (this.loses-- > 0) return { body: ["{"], framing: "chunked", ending: "rst" };
    return json(this.#flavour.shape(batch));
  }

  /** A batch that does not complete has answered half of its lines, and says nothing of the others. */
  #end(batch: FamilyBatch, state: "done" | "expired" | "cancelled"): void {
    const { lines } = batch;
    const out: object[] = [];
    const err: object[] = [];
    for (const { custom_id, body } of lines.slice(0, state === "done" ? lines.length : lines.length / 2)) {
      const said = saidIn(body);
      if (said.startsWith("bad")) {
        const refusal = { error: { message: "no", type: "invalid_request_error" } };
        err.push({ custom_id, response: { status_code: 400, body: refusal }, error: null });
        continue;
      }
      this.billed.set(said, (this.billed.get(said) ?? 0) + 1);
      out.push({ custom_id, response: { body: completion(said), status_code: 200 }, error: null });
    }
    batch.state = state;
    batch.output = this.#keep(out);
    batch.errors = this.#keep(err);
  }

  #keep(lines: readonly object[]): string | undefined {
    if (lines.length === 0) return undefined;
    const id = `file-${++this.#made}`;
    this.files.set(id, { content: lines.map((line) => `${JSON.stringify(line)}\n`).join(""), looks: 0 });
    return id;
  }
}
