/** Addresses that people copy from a vendor's pages instead of the base URL: weir says what to write. */
import { describe, expect, test } from "bun:test";
import azure from "../../plugins/azure.ts";
import foundry from "../../plugins/foundry.ts";
import { loadConfig } from "../../src/config/load.ts";
import { providerSettings } from "../../src/config/providers.ts";

const named = (name: string) =>
  [...azure.providers!, ...foundry.providers!].find((provider) => provider.name === name)!;

function baseUrlOf(name: string, env: Record<string, string>): string | undefined {
  const { config } = loadConfig({ env, cwd: import.meta.dir });
  return providerSettings(config, env, named(name), {}).baseUrl;
}

const RESOURCE = "https://r.openai.azure.com";
const ENDPOINT = "AZURE_OPENAI_ENDPOINT";

describe("a mistake in the endpoint of Azure is a sentence that says what to write", () => {
  const rows: [address: string, says: string][] = [
    [
      `${RESOURCE}/openai/deployments/gpt-4o/chat/completions`,
      `is that of one deployment; write ${RESOURCE} and name the model azure/DEPLOYMENT`,
    ],
    [
      `${RESOURCE}/openai/deployments/gpt-4o/chat/completions?api-version=2024-10-21&key=secret`,
      `is that of one deployment; write ${RESOURCE} and name the model azure/DEPLOYMENT; for a dated version of the API, set OPENAI_API_VERSION and name the model azure-dated/DEPLOYMENT`,
    ],
    [`${RESOURCE}/openai/v1/chat/completions`, `is that of one operation; write ${RESOURCE}`],
    ["r.openai.azure.com/openai/v1/chat/completions", `is that of one operation; write ${RESOURCE}`],
    [`${RESOURCE}/openai/v1/`, `has another path than the API; write ${RESOURCE}`],
    [
      "https://portal.azure.com/#resource/subscriptions/1",
      "is that of a portal; write the endpoint of the resource, such as https://NAME.openai.azure.com",
    ],
    [
      "https://r.cognitiveservices.azure.com/openai/responses?api-version=2025-04-01-preview",
      "is that of one operation; write https://r.cognitiveservices.azure.com; for a dated version",
    ],
  ];
  for (const [address, says] of rows)
    test(address, () => {
      const read = () => baseUrlOf("azure", { [ENDPOINT]: address });
      expect(read).toThrow(`${ENDPOINT}: the address of azure ${says}`);
      expect(read).not.toThrow("secret");
    });
});

test("a mistake in the base URL names the path that belongs to it", () => {
  const read = (name: string, variable: string, address: string) => () =>
    baseUrlOf(name, { [variable]: address });
  expect(read("azure", "AZURE_BASE_URL", RESOURCE)).toThrow(
    `has another path than the API; write ${RESOURCE}/openai/v1`,
  );
  expect(read("azure-dated", "AZURE_DATED_BASE_URL", `${RESOURCE}/openai/v1`)).toThrow(
    `write ${RESOURCE}/openai`,
  );
  const messages = "https://r.services.ai.azure.com/anthropic/v1/messages";
  expect(read("foundry", "ANTHROPIC_FOUNDRY_BASE_URL", messages)).toThrow(
    "is that of one operation; write https://r.services.ai.azure.com/anthropic",
  );
});

test("what is right is taken, also a project, a proxy and a host without a scheme", () => {
  const rows: [name: string, variable: string, address: string, base: string][] = [
    ["azure", ENDPOINT, `${RESOURCE}/`, `${RESOURCE}/openai/v1`],
    ["azure", ENDPOINT, "r.openai.azure.com", `${RESOURCE}/openai/v1`],
    ["azure-dated", ENDPOINT, RESOURCE, `${RESOURCE}/openai`],
    [
      "azure",
      ENDPOINT,
      "https://r.cognitiveservices.azure.com",
      "https://r.cognitiveservices.azure.com/openai/v1",
    ],
    ["azure", "AZURE_BASE_URL", `${RESOURCE}/openai/v1/`, `${RESOURCE}/openai/v1`],
    ["azure", "AZURE_BASE_URL", "https://proxy.example/azure", "https://proxy.example/azure"],
    [
      "azure",
      "AZURE_BASE_URL",
      "https://r.services.ai.azure.com/api/projects/p/openai/v1",
      "https://r.services.ai.azure.com/api/projects/p/openai/v1",
    ],
    [
      "foundry",
      "ANTHROPIC_FOUNDRY_BASE_URL",
      "https://r.services.ai.azure.com/anthropic/",
      "https://r.services.ai.azure.com/anthropic",
    ],
  ];
  for (const [name, variable, address, base] of rows)
    expect([address, baseUrlOf(name, { [variable]: address })]).toEqual([address, base]);
});

test("a mistake in the config names the option", () => {
  const env = {};
  const { config } = loadConfig({ env, cwd: import.meta.dir });
  const deployments = [{ name: "one", baseUrl: RESOURCE }];
  const read = () =>
    providerSettings({ ...config, providers: { azure: { deployments } } }, env, named("azure"), {});
  expect(read).toThrow("providers.azure.deployments[0].baseUrl: the address of azure has another path");
});
