/** The commands of the first run, whole and ready to paste. */

export interface Step {
  title: string;
  command: string;
  /** The base URL that an SDK takes instead. */
  base?: string;
}

/** @param gateway `http://127.0.0.1:9347` @param open calls need no key */
export function stepsOf(gateway: string, open: boolean): Step[] {
  const key = (header: string) => (open ? "" : ` \\\n  -H "${header}$WEIR_API_KEY"`);
  return [
    {
      title: "Chat-completions, and any OpenAI SDK",
      base: `${gateway}/v1`,
      command:
        `curl -N ${gateway}/v1/chat/completions -H "content-type: application/json"${key("authorization: Bearer ")} \\\n` +
        `  -d '{"model":"mock/chat","stream":true,"messages":[{"role":"user","content":"Hello"}]}'`,
    },
    {
      title: "Messages, and any Anthropic SDK",
      base: gateway,
      command:
        `curl -N ${gateway}/v1/messages -H "content-type: application/json"${key("x-api-key: ")} \\\n  -H "anthropic-version: 2023-06-01" \\\n` +
        `  -d '{"model":"mock/chat","max_tokens":100,"messages":[{"role":"user","content":"Hello"}]}'`,
    },
    {
      title: "Claude Code",
      command: `ANTHROPIC_BASE_URL=${gateway} ANTHROPIC_API_KEY=${open ? "unused" : "$WEIR_API_KEY"} claude`,
    },
  ];
}

interface Provider {
  on: boolean;
  deployments: readonly { keyVariable?: string; why?: string }[];
}

/** Whether a provider can answer, and what it needs otherwise. The environment of weir is that of its start. */
export function readiness({ on, deployments }: Provider): string {
  const variables = new Set(deployments.flatMap(({ keyVariable }) => keyVariable ?? []));
  if (!on) return `${whyOff(deployments) ?? "no key"}, and start weir again`;
  return variables.size > 0 ? `key from ${[...variables].join(", ")}` : "needs no key";
}

const whyOff = (deployments: Provider["deployments"]) =>
  deployments.find(({ why }) => why !== undefined)?.why;

/** The variables that a provider lacks: `AWS_REGION, AWS_BEARER_TOKEN_BEDROCK`; of which one is enough, with `or`. */
export function lacks({ deployments }: Provider): string {
  const needs = (whyOff(deployments) ?? "").split(";");
  const variables = needs.map((need) => need.match(/[A-Z][A-Z\d]*_[A-Z\d_]+/g)?.join(" or ") ?? "");
  return variables.filter((text) => text !== "").join(", ");
}
