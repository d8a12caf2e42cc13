// How the files of tools are found and read on node: `@opencode-ai/plugin` is ours, endings may be left out, and
// TypeScript is stripped of its types by node itself or by a package that lies beside the tools.

import fs from "node:fs"
import module, { createRequire } from "node:module"
import path from "node:path"
import { fileURLToPath, pathToFileURL } from "node:url"

const PLUGIN = new URL("./plugin.mjs", import.meta.url).href
const ENDINGS = ["", ".ts", ".mts", ".js", ".mjs", ".cjs", ".json", "/index.ts", "/index.js", "/index.mjs"]

export const types = {
  find(file) {
    const names = ENDINGS.map((ending) => file + ending)
    if (/\.[cm]?js$/.test(file)) names.push(file.replace(/js$/, "ts"))
    return names.find((name) => { try { return fs.statSync(name).isFile() } catch { return false } })
  },
}

export async function resolve(specifier, context, next) {
  if (specifier === "@opencode-ai/plugin" || specifier === "@opencode-ai/plugin/tool") {
    return { url: PLUGIN, format: "module", shortCircuit: true }
  }
  const local = specifier.startsWith("./") || specifier.startsWith("../") || specifier.startsWith("file:")
  if (local && context.parentURL?.startsWith("file:")) {
    const found = types.find(fileURLToPath(new URL(specifier, context.parentURL)))
    if (found) return next(pathToFileURL(found).href, context)
  }
  return next(specifier, context)
}

export async function load(url, context, next) {
  const file = url.startsWith("file:") ? fileURLToPath(url) : ""
  if (/\.m?ts$/.test(file)) {
    return { format: "module", source: stripped(fs.readFileSync(file, "utf8"), file), shortCircuit: true }
  }
  if (file.includes("/node_modules/")) return next(url, context)
  if (file.endsWith(".js")) {
    // A file without a package.json that says otherwise is a module if it is written as one.
    const text = fs.readFileSync(file, "utf8")
    if (/^\s*(?:import|export)\b/m.test(text)) return { format: "module", source: text, shortCircuit: true }
  }
  return next(url, context)
}

function stripped(text, file) {
  if (module.stripTypeScriptTypes) {
    const quiet = process.emitWarning
    process.emitWarning = () => {}
    try { return module.stripTypeScriptTypes(text, { mode: "strip" }) }
    catch (error) { return module.stripTypeScriptTypes(text, { mode: "transform" }) }
    finally { process.emitWarning = quiet }
  }
  const near = createRequire(file)
  const ways = {
    esbuild: (own) => own.transformSync(text, { loader: "ts", format: "esm" }).code,
    amaro: (own) => own.transformSync(text, { mode: "transform" }).code,
    sucrase: (own) => own.transform(text, { transforms: ["typescript"] }).code,
    typescript: (own) => own.transpileModule(text, { compilerOptions: { module: "ESNext", target: "ES2022" } }).outputText,
  }
  for (const [name, way] of Object.entries(ways)) {
    let own
    try { own = near(name) } catch { continue }
    return way(own)
  }
  const how = `bun, or node 22.18 or newer (pip install 'toolwright[js]' brings one), or one of ${Object.keys(ways).join(", ")} beside the file`
  throw new Error(`TypeScript needs ${how}; this is node ${process.versions.node}`)
}
