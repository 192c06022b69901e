/** The real analyzer of Presidio with its recognisers of patterns, which need no model, as judge of weir's questions. */
import { afterAll, expect, test } from "bun:test";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { IS_LONG } from "../../../../test/helpers/effort.ts";
import { startGateway } from "../../../../test/helpers/gateway.ts";

const VERSION = "2.2.366";

/** Serves `/analyze` as the server of Presidio does. */
const SERVER = `
import json, spacy
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from presidio_analyzer import AnalyzerEngine, RecognizerRegistry
from presidio_analyzer.nlp_engine import SpacyNlpEngine

class Blank(SpacyNlpEngine):
    def load(self):
        self.nlp = {"en": spacy.blank("en")}

engine = Blank(models=[{"lang_code": "en", "model_name": "blank"}])
engine.load()
registry = RecognizerRegistry()
registry.load_predefined_recognizers(languages=["en"])
registry.remove_recognizer("SpacyRecognizer")
analyzer = AnalyzerEngine(registry=registry, nlp_engine=engine, supported_languages=["en"])

class Handler(BaseHTTPRequestHandler):
    def do_POST(self):
        asked = json.loads(self.rfile.read(int(self.headers["content-length"])))
        found = analyzer.analyze(**{name: asked[name] for name in ("text", "language", "entities", "score_threshold") if name in asked})
        body = json.dumps([one.to_dict() for one in found]).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
    def log_message(self, *_):
        pass

server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
print(server.server_port, flush=True)
server.serve_forever()
`;

const folder = mkdtempSync(join(tmpdir(), "weir-presidio-"));
let child: Bun.Subprocess<"ignore", "pipe", "ignore"> | undefined;
afterAll(() => {
  child?.kill();
  rmSync(folder, { recursive: true, force: true });
});

/** @returns the python of an environment with Presidio; undefined if it cannot be installed */
function installed(): string | undefined {
  const kept = process.env["WEIR_PRESIDIO_PYTHON"];
  if (kept !== undefined && existsSync(kept)) return kept;
  const run = (...command: string[]) =>
    Bun.spawnSync(command, { stdout: "ignore", stderr: "ignore" }).success;
  const made =
    run("python3", "-m", "venv", join(folder, "v")) &&
    run(join(folder, "v/bin/pip"), "install", "-q", `presidio-analyzer==${VERSION}`);
  return made ? join(folder, "v/bin/python") : undefined;
}

const TEXTS: readonly (readonly [text: string, masked: string])[] = [
  ["Mail anna@example.com now", "Mail [EMAILADDRESS] now"],
  ["𝒜 👩‍👩‍👧 naïve Ⅷ: anna@example.com, é", "𝒜 👩‍👩‍👧 naïve Ⅷ: [EMAILADDRESS], é"],
  ["Pay with 4111 1111 1111 1111.", "Pay with [CREDITCARD]."],
  ["To DE89370400440532013000 and 192.168.0.1", "To [IBANCODE] and [IPADDRESS]"],
  ["Nothing here", "Nothing here"],
];

test.skipIf(!IS_LONG)(
  "what Presidio finds is replaced at its place, with characters of any width in front",
  async () => {
    const python = installed();
    if (!python) return console.warn(`skipped: presidio-analyzer ${VERSION} cannot be installed here`);
    writeFileSync(join(folder, "server.py"), SERVER);
    child = Bun.spawn([python, join(folder, "server.py")], {
      stdin: "ignore",
      stdout: "pipe",
      stderr: "ignore",
    });
    const reader = child.stdout.getReader();
    const port = Number(Buffer.from((await reader.read()).value ?? "").toString());
    expect(port).toBeGreaterThan(0);
    const gateway = await startGateway({
      config: {
        guards: {
          pii: {
            ...{ presidio: `http://127.0.0.1:${port}`, do: "mask", on: "input", timeout: "20s" },
            ...{ entities: ["EMAIL_ADDRESS", "CREDIT_CARD", "IBAN_CODE", "IP_ADDRESS"], over: 0.5 },
          },
        },
      },
    });
    for (const [text, masked] of TEXTS) {
      const response = await fetch(`${gateway.url}/v1/chat/completions`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ model: "mock/echo", messages: [{ role: "user", content: text }] }),
      });
      const { choices } = (await response.json()) as { choices: [{ message: { content: string } }] };
      expect(choices[0].message.content).toBe(masked);
    }
    await gateway.stop();
  },
  400_000,
);
