/**
 * The image, without a container engine: the commands of the Dockerfile fill a folder, from the C library of this machine
 * instead of a downloaded one, and weir runs in it as the user of the image, with nothing but the devices of a container.
 */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ROOT } from "../helpers/documents.ts";
import { environmentIn } from "../helpers/environment.ts";

setDefaultTimeout(600_000);

const DOCKERFILE = readFileSync(join(ROOT, ".github/image/Dockerfile"), "utf8");
const ARCH = { x64: "amd64", arm64: "arm64" }[process.arch as string];

/** Why it cannot be tried here; undefined where it can. */
const missing =
  process.platform !== "linux" || !ARCH
    ? "it needs Linux on x64 or arm64"
    : process.getuid?.() !== 0
      ? "it needs root, to enter a folder as another user"
      : !Bun.which("dpkg")
        ? "it needs the C library of a Debian package"
        : undefined;

/** The commands of the RUN instructions, without their line breaks. */
const commands = [...DOCKERFILE.matchAll(/^RUN ((?:.*\\\n)*.*)$/gm)].map(([, text]) =>
  text!.replaceAll("\\\n", ""),
);

let folder: string;
let image: string;

function run(script: string, env: Record<string, string> = {}) {
  const ran = Bun.spawnSync(["sh", "-ec", script], {
    cwd: folder,
    env: { ...environmentIn(folder), ...env },
  });
  return { code: ran.exitCode, out: ran.stdout.toString(), err: ran.stderr.toString() };
}

beforeAll(() => {
  if (missing) return;
  folder = mkdtempSync(join(tmpdir(), "weir-image-"));
  image = join(folder, "image");
  const made = Bun.spawnSync(
    [process.execPath, join(ROOT, "src/build/release.ts"), `linux-${process.arch}`],
    {
      env: environmentIn(folder),
    },
  );
  expect(made.exitCode).toBe(0);
  run(`cp ${join(ROOT, "dist/release")}/weir-linux-*.tar.gz .`);
  // What the first command unpacks.
  run(`dpkg --listfiles libc6 | sed 's#^/usr/lib#/lib#' | grep -E '^/lib.*[.]so|/copyright$' | while read -r path; do
    mkdir -p "libc/$(dirname "$path")" && cp --no-dereference "$path" "libc/$path"; done`);
  const filled = run(commands[1]!.replaceAll("/image", image), { TARGETARCH: ARCH! });
  expect(filled).toEqual({ code: 0, out: "", err: "" });
}, 600_000);

afterAll(() => {
  if (folder) rmSync(folder, { recursive: true, force: true });
});

test("the image has the executable, the C library, a folder for the state and one for temporary files", () => {
  if (missing) return console.log(`The image was not tried: ${missing}.`);
  const files = readdirSync(image, { recursive: true }) as string[];
  expect(files.filter((path) => !path.startsWith("lib"))).toEqual(
    expect.arrayContaining(["weir", "data", "tmp", "usr/share/doc/libc6/copyright"]),
  );
  expect(files.length).toBeLessThan(25);
  expect([statSync(join(image, "data")).uid, statSync(join(image, "tmp")).mode & 0o7777]).toEqual([
    65532, 0o1777,
  ]);
  expect(statSync(join(image, "weir")).mode & 0o777).toBe(0o755);
});

/** Runs in namespaces of its own, so that every mount and process ends with it. */
const script = (image: string) => `
mount -t tmpfs none "$PWD/mnt" && cp -a ${image}/. mnt && cd mnt
mkdir -p dev proc && mount -t proc proc proc
for device in null zero random urandom; do touch dev/$device; mount --bind /dev/$device dev/$device; done
weir() { env -i WEIR_HOST=0.0.0.0 WEIR_PORT=$PORT WEIR_API_KEYS=app:$KEY /usr/sbin/chroot --userspec=65532:65532 --groups= . /weir "$@"; }
weir health && exit 9
weir serve --workers 2 > ../log 2>&1 &
for step in $(seq 300); do weir health 2> /dev/null && break; sleep 0.2; done
for status in /proc/[0-9]*/status; do if grep -q '^Name:.weir$' $status; then grep '^Uid' $status; fi; done
curl -sS http://127.0.0.1:$PORT/v1/chat/completions -H "authorization: Bearer $KEY" -H 'content-type: application/json' -d '{"model":"mock/echo","messages":[{"role":"user","content":"from the image"}]}'
`;

test("weir starts in it with two workers as user 65532, and its health check and a call succeed", () => {
  if (missing) return console.log(`The image was not tried: ${missing}.`);
  mkdirSync(join(folder, "mnt"));
  writeFileSync(join(folder, "inside.sh"), script(image));
  const free = Bun.serve({ port: 0, fetch: () => new Response() });
  const port = String(free.port);
  void free.stop(true);
  const { out, err, code } = run(
    "unshare --mount --pid --fork --kill-child --mount-proc sh inside.sh || { code=$?; cat log >&2; exit $code; }",
    { PORT: port, KEY: "a-key-that-is-long-enough" },
  );
  expect({ code, err }).toEqual({ code: 0, err: expect.stringContaining("no gateway answers") });
  expect(out).toMatch(/^ok \d+\.\d+\.\d+$/m);
  expect(out).toContain("Uid:\t65532\t65532\t65532\t65532");
  expect(out).not.toContain("Uid:\t0");
  expect(out).toContain('"content":"from the image"');
});
