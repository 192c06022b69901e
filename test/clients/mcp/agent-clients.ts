/** The clients that do the job of ten calls: how each is installed, and told where its tools are. */
import { join } from "node:path";
import { cacheFolder, installPackages, NODE, nodeIn } from "../../conformance/mcp/install.ts";

export interface Agent {
  /** As the table prints it. */
  readonly name: string;
  readonly package: string;
  readonly version: string;
  /** The model, as weir names it. */
  readonly model: string;
  /** @param url the endpoint of the tools @returns the command, which runs in a folder of the home folder, and files of the latter */
  run(url: string, task: string): { command: readonly string[]; files?: Readonly<Record<string, string>> };
}

/** weir exec puts a key there. */
const KEY = "WEIR_API_KEY";

const headersWith = (variable: string) => ({ authorization: `Bearer ${variable}` });

export const AGENTS: readonly Agent[] = [
  {
    name: "Claude Code",
    package: "@anthropic-ai/claude-code",
    version: "2.1.328",
    model: "anthropic/claude-opus-4-8",
    run: (url, task) => ({
      command: ["claude", "-p", task, "--mcp-config", "../tools.json", "--allowedTools", "mcp__weir"],
      files: {
        "tools.json": JSON.stringify({
          mcpServers: { weir: { type: "http", url, headers: headersWith(`\${${KEY}}`) } },
        }),
      },
    }),
  },
  {
    name: "Codex",
    package: "@openai/codex",
    version: "0.169.0",
    model: "openai/gpt-5.5",
    run: (url, task) => ({
      command: [
        ...["codex", "exec", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox"],
        ...["-c", `mcp_servers.weir.url="${url}"`],
        // Else it does not wait for the tools, and offers what it knows at the start of the turn.
        ...["-c", "mcp_servers.weir.required=true"],
        ...["-c", `mcp_servers.weir.bearer_token_env_var="${KEY}"`, task],
      ],
    }),
  },
  {
    name: "Gemini CLI",
    package: "@google/gemini-cli",
    version: "0.61.0",
    model: "gemini/gemini-3-pro-preview",
    run: (url, task) => ({
      command: ["gemini", "--skip-trust", "--yolo", "-p", task],
      files: {
        ".gemini/settings.json": JSON.stringify({
          mcpServers: { weir: { httpUrl: url, headers: headersWith(`$${KEY}`) } },
        }),
      },
    }),
  },
];

const place = cacheFolder("mcp agents");

/** Installs all of them. @returns the path on which they and their Node.js are found */
export async function installAgents(): Promise<string> {
  await installPackages(place, [NODE, ...AGENTS.map((agent) => `${agent.package}@${agent.version}`)]);
  const modules = join(place, "node_modules");
  // The program of Claude Code is in a package for each platform.
  const claude = join(modules, `@anthropic-ai/claude-code-${process.platform}-${process.arch}`);
  return [claude, join(nodeIn(place), ".."), join(modules, ".bin"), process.env["PATH"] ?? ""].join(":");
}
