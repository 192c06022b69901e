/** `with { type: "file" }`: the path of the file, also inside the binary. */
declare module "*.jsonl" {
  const path: string;
  export default path;
}
