/** Paths with parameters: which methods they accept, and how the router and the OpenAPI document write them. */
import { expect, test } from "bun:test";
import { AllowedMethods } from "../../src/server/operation.ts";
import { routePath } from "../../src/server/openapi.ts";

const methods = new AllowedMethods([
  { method: "POST", path: "/v1/answers" },
  { method: "GET", path: "/v1/answers/{id}" },
  { method: "DELETE", path: "/v1/answers/{id}" },
  { method: "POST", path: "/v1/answers/{id}/cancel" },
  { method: "POST", path: "/v1/answers/compact" },
  { method: "GET", path: "/v1/models/{+id}" },
]);

test("a parameter stands for one segment, and the methods of a path are listed together", () => {
  expect(methods.of("/v1/answers/a1")).toBe("GET, DELETE");
  expect(methods.of("/v1/answers/a1/cancel")).toBe("POST");
  expect(methods.of("/v1/answers/a1/other")).toBeUndefined();
  expect(methods.of("/v1/answers/")).toBeUndefined();
  // The router gives GET to the parameter.
  expect(methods.of("/v1/answers/compact")).toBe("POST, GET, DELETE");
});

test("a parameter with a plus takes the rest of the path, slashes included", () => {
  expect(methods.of("/v1/models/vendor/model:x")).toBe("GET");
  expect(methods.of("/v1/modelsx")).toBeUndefined();
});

test("only paths without parameters correct a misspelled path", () => {
  expect([...methods.paths]).toEqual(["/v1/answers", "/v1/answers/compact"]);
});

test("the router gets one segment as a name and the rest of a path as an asterisk", () => {
  expect(routePath("/v1/answers/{id}/cancel")).toBe("/v1/answers/:id/cancel");
  expect(routePath("/v1/models/{+id}")).toBe("/v1/models/*");
});
