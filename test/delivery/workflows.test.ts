/** The workflows of GitHub, as far as they can be checked and run without GitHub. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import {
  accessSync,
  chmodSync,
  constants,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Glob } from "bun";
import { parse } from "yaml";
import manifest from "../../package.json";
import { SYSTEMS } from "../../src/build/systems.ts";
import { ROOT } from "../helpers/documents.ts";
import { environmentIn } from "../helpers/environment.ts";
import { type RunningGateway, startGateway } from "../helpers/gateway.ts";

interface Step {
  uses?: string;
  run?: string;
  with?: Record<string, unknown>;
}

interface Job {
  needs?: string | string[];
  permissions?: Record<string, string>;
  "runs-on": string;
  "timeout-minutes"?: number;
  strategy?: { matrix: { include: { system: string }[] } };
  steps: Step[];
}

interface Workflow {
  on: Record<string, unknown>;
  permissions: Record<string, string>;
  concurrency: { group: string };
  jobs: Record<string, Job>;
}

const FOLDER = ".github/workflows";
const texts = new Map(
  [...new Glob("*.yml").scanSync(join(ROOT, FOLDER))]
    .sort()
    .map((name) => [name, readFileSync(join(ROOT, FOLDER, name), "utf8")]),
);
const workflows = new Map([...texts].map(([name, text]) => [name, parse(text) as Workflow]));
const jobs = [...workflows].flatMap(([name, workflow]) =>
  Object.entries(workflow.jobs).map(([id, job]) => ({ name: `${name}: ${id}`, id, job })),
);
const steps = jobs.flatMap(({ name, job }) => job.steps.map((step) => ({ name, ...step })));
const scripts = steps.flatMap(({ name, run }) => (run === undefined ? [] : [{ name, run }]));

/** Newer versions find more of what is a matter of style. */
const SHELLCHECK = ["shellcheck", "--severity=warning"];

let folder: string;
let gateway: RunningGateway;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "weir-workflows-"));
  gateway = await startGateway();
});
afterAll(async () => {
  await gateway.stop();
  rmSync(folder, { recursive: true, force: true });
});

test("there is a workflow for changes and one for releases, for tags alone", () => {
  expect([...workflows.keys()]).toEqual(["ci.yml", "release.yml"]);
  expect(Object.keys(workflows.get("ci.yml")!.on)).toEqual([
    "push",
    "pull_request",
    "schedule",
    "workflow_dispatch",
  ]);
  expect(workflows.get("release.yml")!.on).toEqual({ push: { tags: ["v*"] } });
});

test("a workflow may only read, and the jobs that publish may write what they publish", () => {
  for (const { permissions, concurrency } of workflows.values()) {
    expect(permissions).toEqual({ contents: "read" });
    expect(concurrency.group).toContain("github.ref");
  }
  const more = jobs.filter(({ job }) => job.permissions).map(({ id, job }) => [id, job.permissions]);
  const provenance = { "id-token": "write", attestations: "write" };
  expect(Object.fromEntries(more)).toEqual({
    image: { contents: "read", packages: "write", ...provenance },
    publish: { contents: "write", ...provenance },
  });
});

test("every job has a time limit, and needs jobs that exist", () => {
  for (const { name, job } of jobs) {
    expect([name, job["timeout-minutes"]]).toEqual([name, expect.any(Number)]);
    const workflow = workflows.get(name.split(":")[0]!)!;
    for (const need of [job.needs ?? []].flat()) expect(Object.keys(workflow.jobs)).toContain(need);
  }
});

test("actions are those of GitHub, pinned by their commit with the version beside it, the same everywhere", () => {
  const pins = new Map<string, Set<string>>();
  for (const text of texts.values())
    for (const [, used] of text.matchAll(/uses: (.+)$/gm)) {
      if (used!.startsWith("./")) {
        expect(existsSync(join(ROOT, used!, "action.yml"))).toBe(true);
        continue;
      }
      expect(used).toMatch(/^actions\/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/);
      const [name = "", pin = ""] = used!.split("@");
      pins.set(name, (pins.get(name) ?? new Set()).add(pin));
    }
  for (const [name, found] of pins) expect([name, found.size]).toEqual([name, 1]);
});

test("no checkout leaves the token of the job behind", () => {
  const checkouts = steps.filter(({ uses }) => uses?.startsWith("actions/checkout@"));
  expect(checkouts.length).toBeGreaterThan(5);
  for (const { with: options } of checkouts) expect(options).toEqual({ "persist-credentials": false });
});

test("every script parses, and takes values from variables instead of expressions", () => {
  for (const { name, run } of scripts) {
    expect([name, run.includes("${{")]).toEqual([name, false]);
    const parsed = Bun.spawnSync(["bash", "-n"], { stdin: Buffer.from(run) });
    expect([name, parsed.exitCode, parsed.stderr.toString()]).toEqual([name, 0, ""]);
    if (!Bun.which("shellcheck")) continue;
    const checked = Bun.spawnSync([...SHELLCHECK, "--shell=bash", "-"], { stdin: Buffer.from(run) });
    expect([name, checked.stdout.toString()]).toEqual([name, ""]);
  }
});

const SHELL_FILES = [...new Glob(".github/**/*.sh").scanSync({ cwd: ROOT, dot: true })];

test("the shell scripts of the repository parse, and shellcheck finds nothing", () => {
  expect(SHELL_FILES.sort()).toEqual([
    ".github/deploy/render.sh",
    ".github/image/publish.sh",
    ".github/install.sh",
    ".github/workflows/ask.sh",
  ]);
  for (const path of SHELL_FILES) {
    for (const shell of ["dash", "bash", "busybox"].filter((name) => Bun.which(name))) {
      const command = shell === "busybox" ? ["busybox", "sh"] : [shell];
      const parsed = Bun.spawnSync([...command, "-n", join(ROOT, path)]);
      expect([path, shell, parsed.stderr.toString()]).toEqual([path, shell, ""]);
    }
    if (!Bun.which("shellcheck")) continue;
    expect(Bun.spawnSync([...SHELLCHECK, join(ROOT, path)]).stdout.toString()).toBe("");
  }
});

test("every script of package.json and every file that a workflow runs exists", () => {
  let found = 0;
  for (const { name, run } of scripts) {
    for (const [, version, script] of run.matchAll(/npx -y (bun@[\d.]+) run ([a-z]+)/g)) {
      found++;
      expect([name, version]).toEqual([name, manifest.packageManager]);
      expect(Object.keys(manifest.scripts)).toContain(script!);
    }
    for (const [, path] of run.matchAll(/(?:^|\/source\/|\s)(\.(?:ci|github)\/[\w./-]+)/gm)) {
      found++;
      expect(() => accessSync(join(ROOT, path!), constants.X_OK)).not.toThrow();
    }
  }
  expect(found).toBeGreaterThan(6);
});

test("each of the seven systems is tried before anything is published", () => {
  const { jobs: release } = workflows.get("release.yml")!;
  const tried = ["try", "try-musl"].flatMap((id) => release[id]!.strategy!.matrix.include);
  expect(tried.map(({ system }) => system).sort()).toEqual([...SYSTEMS].sort());
  expect(release["image"]!.needs).toEqual(["try", "try-musl"]);
  expect(release["publish"]!.needs).toEqual(["image", "rehearse"]);
});

/** A `gh` with one release before, whose archive has the weir of `program`; without a program there is none. */
function releases(program?: string): string {
  const bin = mkdtempSync(join(folder, "gh-"));
  const pack = (at: string, text: string) => {
    mkdirSync(join(bin, at, "weir-linux-x64"), { recursive: true });
    writeFileSync(join(bin, at, "weir-linux-x64/weir"), text, { mode: 0o755 });
    Bun.spawnSync([
      "tar",
      "-czf",
      join(bin, at, "weir-linux-x64.tar.gz"),
      "-C",
      join(bin, at),
      "weir-linux-x64",
    ]);
  };
  if (program !== undefined) pack("before", program);
  pack("dist/release", "new");
  const gh = `case "$2" in
  list) ${program === undefined ? "true" : "echo v0.1.0"} ;;
  download) echo "$*" > asked; cp before/weir-linux-x64.tar.gz dist/before/ ;;
esac`;
  writeFileSync(join(bin, "gh"), `#!/bin/sh\n${gh}\n`, { mode: 0o755 });
  // Stands for the rehearsal: it shows which programs are compared.
  const npx = `cat "$5" "$6" > "$8"; echo "$1 $2 $3 $4" >> "$8"`;
  writeFileSync(join(bin, "npx"), `#!/bin/sh\n${npx}\n`, { mode: 0o755 });
  return bin;
}

/** Runs the step of the release that compares it with the one before. */
function compareReleases(bin: string) {
  const { run } = workflows.get("release.yml")!.jobs["rehearse"]!.steps.find((step) => step.run)!;
  const env = { ...environmentIn(bin), PATH: `${bin}:${process.env["PATH"]}`, GITHUB_REPOSITORY: "a/weir" };
  const summary = join(bin, "summary");
  const ran = Bun.spawnSync(["bash", "-e", "-o", "pipefail", "-c", run!], {
    ...{ cwd: bin, env: { ...env, GITHUB_STEP_SUMMARY: summary } },
  });
  const text = readFileSync(join(bin, "dist/rehearsal/REHEARSAL.md"), "utf8");
  return { code: ran.exitCode, said: ran.stderr.toString(), text };
}

test("a release is compared with the one before, and its notes have the table", () => {
  const bin = releases("old\n");
  expect(compareReleases(bin)).toEqual({ code: 0, said: "", text: "old\nnew-y bun@1.4.5 run rehearsal\n" });
  expect(readFileSync(join(bin, "asked"), "utf8")).toStartWith("release download v0.1.0 --repo a/weir");
  const { steps: last } = workflows.get("release.yml")!.jobs["publish"]!;
  expect(last.at(-1)!.run).toContain("--notes-file dist/rehearsal/REHEARSAL.md");
  expect(last.at(-1)!.run).toContain("dist/release/* dist/rehearsal/REHEARSAL.md");
});

test("the first release says that there is none before", () => {
  const { code, text } = compareReleases(releases());
  expect([code, text]).toEqual([0, "There is no release before.\n"]);
});

test("the question of a release is answered by weir, and fails for another program", async () => {
  const ask = (url: string) =>
    Bun.spawn([join(ROOT, FOLDER, "ask.sh")], {
      env: environmentIn(folder, { WEIR_URL: url }),
      stdout: "pipe",
      stderr: "ignore",
    });
  const asked = ask(gateway.url);
  expect(await new Response(asked.stdout).text()).toContain('"content":"It works."');
  expect(await asked.exited).toBe(0);
  const other = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: () => new Response("hello") });
  expect(await ask(other.url.origin).exited).toBe(1);
  await other.stop(true);
});

/** A `docker` that writes its arguments to a file, and plays a container with a state of health. */
const docker = (health: string) => `#!/bin/sh
echo "$*" >> ${folder}/docker.log
case "$1 $2" in
  "login --username") cat > ${folder}/password ;;
  "run --detach") echo container-1 ;;
  "inspect --format") echo ${health} ;;
esac
for argument; do
  case "$before" in --metadata-file) printf '{\\n  "containerimage.digest": "sha256:${"0a".repeat(32)}",\\n}' > "$argument" ;; esac
  before=$argument
done
`;

/** Runs the script that publishes the image, with a stub of Docker. */
function publish(health: string, tag = "v1.2.3") {
  for (const name of ["docker.log", "output"]) writeFileSync(join(folder, name), "");
  writeFileSync(join(folder, "docker"), docker(health));
  writeFileSync(join(folder, "sleep"), "#!/bin/sh\n");
  for (const name of ["docker", "sleep"]) chmodSync(join(folder, name), 0o755);
  const ran = Bun.spawnSync([join(ROOT, ".github/image/publish.sh")], {
    cwd: folder,
    env: {
      ...environmentIn(folder),
      PATH: `${folder}:${process.env["PATH"]}`,
      GITHUB_REPOSITORY: "Some-One/weir",
      GITHUB_REF_NAME: tag,
      GITHUB_SERVER_URL: "https://github.com",
      GITHUB_ACTOR: "someone",
      GITHUB_OUTPUT: join(folder, "output"),
      REGISTRY_TOKEN: "a-token",
    },
  });
  const read = (name: string) => readFileSync(join(folder, name), "utf8");
  return { code: ran.exitCode, log: read("docker.log"), output: read("output") };
}

test("the image is tried, then pushed for both architectures, and its digest is told", () => {
  const { code, log, output } = publish("healthy");
  expect(code).toBe(0);
  expect(output).toBe(`name=ghcr.io/some-one/weir\ndigest=sha256:${"0a".repeat(32)}\n`);
  const lines = log.trim().split("\n");
  const at = (text: string) => lines.findIndex((line) => line.includes(text));
  expect(at("--platform linux/amd64,linux/arm64 --push")).toBeGreaterThan(at("inspect"));
  expect(lines[at("--push")]).toContain(
    "--tag ghcr.io/some-one/weir:1.2.3 --tag ghcr.io/some-one/weir:latest",
  );
  expect(log).not.toContain("a-token");
  expect(readFileSync(join(folder, "password"), "utf8")).toBe("a-token");
});

test("the image of a version to try is not the latest one", () => {
  const { code, log } = publish("healthy", "v1.2.3-rc.1");
  expect(code).toBe(0);
  expect(log).toContain("--tag ghcr.io/some-one/weir:1.2.3-rc.1 dist/release");
  expect(log).not.toContain(":latest");
});

test("an image whose health check fails is not pushed", () => {
  const { code, log, output } = publish("unhealthy");
  expect(code).toBe(1);
  expect(log).not.toContain("--push");
  expect(output).toBe("");
});

test("the image runs without root, has a health check, and needs no emulator to be built", () => {
  const dockerfile = readFileSync(join(ROOT, ".github/image/Dockerfile"), "utf8");
  const [files = "", image = ""] = dockerfile.split(/^FROM scratch$/m);
  expect(files).toContain("FROM --platform=$BUILDPLATFORM ");
  expect(image).not.toMatch(/^RUN /m);
  expect(image).toContain("\nUSER 65532:65532\n");
  expect(image).toContain('CMD ["/weir", "health"]');
  expect(image).toEndWith('ENTRYPOINT ["/weir"]\n');
});
