// The official JavaScript library of the protocol as an editor: a session with everything left to it.
import { spawn } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { Readable, Writable } from "node:stream";

const [library, folder, python] = process.argv.slice(2);
const { client, methods, ndJsonStream, PROTOCOL_VERSION } = await import(library);
const seen = { updates: [], asked: [], written: [], terminals: [] };
const buffers = { [`${folder}/a.py`]: '# mine\nprint("hi")\n' };
const choices = ["allow_once", "allow_always", "reject_once"];
const running = new Map();

const tw = spawn(python, ["-m", "toolwright", "acp"], { cwd: folder, stdio: ["pipe", "pipe", "ignore"] });
const stream = ndJsonStream(Writable.toWeb(tw.stdin), Readable.toWeb(tw.stdout));
const editor = client({ name: "test" });

editor.onNotification(methods.client.session.update, ({ params }) => void seen.updates.push(params.update));
editor.onRequest(methods.client.session.requestPermission, ({ params }) => {
  const kind = choices.shift();
  seen.asked.push([params.toolCall.kind, params.toolCall.content?.[0]?.type ?? ""]);
  const { optionId } = params.options.find((one) => one.kind === kind);
  return { outcome: { outcome: "selected", optionId } };
});
editor.onRequest(methods.client.fs.readTextFile, ({ params }) => ({
  content: buffers[params.path] ?? readFileSync(params.path, "utf8"),
}));
editor.onRequest(methods.client.fs.writeTextFile, ({ params }) => {
  delete buffers[params.path];
  seen.written.push(params.path);
  writeFileSync(params.path, params.content);
  return {};
});
editor.onRequest(methods.client.terminal.create, ({ params }) => {
  const child = spawn(params.command, params.args, { cwd: params.cwd });
  const one = { output: "", exit: new Promise((done) => child.on("close", (exitCode) => done({ exitCode }))) };
  child.stdout.on("data", (data) => (one.output += data));
  running.set(`t${running.size}`, { child, one });
  return { terminalId: `t${running.size - 1}` };
});
editor.onRequest(methods.client.terminal.waitForExit, ({ params }) => running.get(params.terminalId).one.exit);
editor.onRequest(methods.client.terminal.output, ({ params }) => ({
  output: running.get(params.terminalId).one.output,
  truncated: false,
}));
editor.onRequest(methods.client.terminal.kill, ({ params }) => (running.get(params.terminalId).child.kill(), {}));
editor.onRequest(methods.client.terminal.release, ({ params }) => (seen.terminals.push(params.terminalId), {}));

await editor.connectWith(stream, async (agent) => {
  await agent.request(methods.agent.initialize, {
    protocolVersion: PROTOCOL_VERSION,
    clientCapabilities: { fs: { readTextFile: true, writeTextFile: true }, terminal: true },
  });
  const { sessionId, modes } = await agent.request(methods.agent.session.new, { cwd: folder, mcpServers: [] });
  seen.mode = modes.currentModeId;
  const ask = (text) =>
    agent.request(methods.agent.session.prompt, { sessionId, prompt: [{ type: "text", text }] });
  seen.stops = [];
  for (const text of ["edit", "count", "edit again"]) seen.stops.push((await ask(text)).stopReason);
  const slow = ask("wait");
  while (running.size < 2) await new Promise((done) => setTimeout(done, 5));
  await agent.notify(methods.agent.session.cancel, { sessionId });
  seen.stops.push((await slow).stopReason);
  seen.listed = (await agent.request(methods.agent.session.list, { cwd: folder })).sessions.length;
  const before = seen.updates.length;
  await agent.request(methods.agent.session.load, { sessionId, cwd: folder, mcpServers: [] });
  seen.replayed = seen.updates.slice(before).map((one) => one.sessionUpdate);
  while (seen.terminals.length < 2) await new Promise((done) => setTimeout(done, 5));
});
tw.kill();
seen.updates = seen.updates.map((one) => [one.sessionUpdate, one.status ?? "", one.content?.[0]?.type ?? ""]);
console.log(JSON.stringify(seen));
process.exit(0);
