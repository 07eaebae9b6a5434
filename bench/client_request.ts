/** Body of a request as an agent sends it: instructions, a tool, and prompt number `index`. */
export function requestBody(index: number): string {
  return JSON.stringify({
    model: "gpt-5.6",
    instructions: "You are an engineer who works in a terminal. ".repeat(20),
    tools: [{
      type: "function",
      name: "read_file",
      description: "Reads a text file of the workspace",
      parameters: { type: "object", properties: { path: { type: "string" } }, required: ["path"] },
      strict: false,
    }],
    input: [{ role: "user", content: `Go ${index}` }],
    stream: true,
    store: false,
  });
}
