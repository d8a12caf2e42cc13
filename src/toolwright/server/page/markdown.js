// Markdown as elements. Only the lexer reads it; raw HTML in it is shown as the text it is.
import { Lexer } from "./marked.js"
import { html, useState } from "./preact.js"
import Prism from "./prism.js"
import { Diff } from "./diff.js"
import { Memo, icon, visible } from "./ui.js"

const NAMES = {
  py: "python",
  js: "javascript",
  jsx: "javascript",
  mjs: "javascript",
  ts: "typescript",
  tsx: "typescript",
  sh: "bash",
  shell: "bash",
  zsh: "bash",
  console: "bash",
  yml: "yaml",
  rs: "rust",
  html: "markup",
  xml: "markup",
  svg: "markup",
  h: "c",
  cc: "cpp",
  hpp: "cpp",
  jsonc: "json",
}
// Limits of what is coloured and marked up: the time it takes grows with the square.
const COLOURED = 20000
const LINE = 1000
const PARAGRAPH = 5000
const DEPTH = 30

export const languageOf = (file) => {
  const ending = (file ?? "").split(".").at(-1).toLowerCase()
  return NAMES[ending] ?? ending
}

function coloured(token, key) {
  if (typeof token === "string") return token
  const inner = Array.isArray(token.content) ? token.content.map(coloured) : coloured(token.content)
  return html`<span key=${key} class=${`t-${token.type}`}>${inner}</span>`
}

export function colours(text, language) {
  const name = NAMES[language] ?? language
  const grammar = Object.hasOwn(Prism.languages, name) && Prism.languages[name]
  const short = text.length < COLOURED && !text.split("\n").some((line) => line.length > LINE)
  return grammar && typeof grammar === "object" && short ? Prism.tokenize(text, grammar).map(coloured) : text
}

export function Code({ text, language }) {
  const [copied, setCopied] = useState(false)
  const copy = async () => {
    await navigator.clipboard?.writeText(text)
    setCopied(true)
    setTimeout(() => setCopied(false), 1500)
  }
  return html`<div class="code">
    <button type="button" class="ghost copy" aria-label="Copy" onclick=${copy}>${icon(copied ? "check" : "copy")}</button>
    <pre tabindex="0"><code>${colours(visible(text), language)}</code></pre>
  </div>`
}

const safe = (address) => /^(https?:|mailto:)/i.test(address)

function inline(tokens, depth = 0) {
  return (tokens ?? []).map((token, at) => {
    if (depth > DEPTH) return token.raw
    const inner = () => inline(token.tokens, depth + 1)
    switch (token.type) {
      case "strong":
        return html`<strong key=${at}>${inner()}</strong>`
      case "em":
        return html`<em key=${at}>${inner()}</em>`
      case "del":
        return html`<del key=${at}>${inner()}</del>`
      case "codespan":
        return html`<code key=${at}>${token.text}</code>`
      case "br":
        return html`<br key=${at} />`
      case "link":
        return safe(token.href)
          ? html`<a key=${at} href=${token.href} rel="noreferrer noopener" target="_blank">${inner()}</a>`
          : html`<span key=${at}>${inner()}</span>`
      case "image":
        // Nothing is fetched from elsewhere.
        return safe(token.href)
          ? html`<a key=${at} href=${token.href} rel="noreferrer noopener" target="_blank">${token.text || token.href}</a>`
          : token.text
      case "escape":
        return token.text
      case "text":
        return token.tokens ? inner() : token.text
      default:
        return token.raw
    }
  })
}

function cell(token, tag, align, key) {
  return html`<${tag} key=${key} style=${align ? { textAlign: align } : undefined}>${inline(token.tokens)}<//>`
}

const blocks = (tokens, depth) => tokens.map((token, at) => block(token, at, depth))

function block(token, at, depth) {
  if (depth > DEPTH) return html`<p key=${at}>${token.raw}</p>`
  switch (token.type) {
    case "space":
    case "def":
      return null
    case "heading":
      return html`<${`h${Math.min(6, token.depth + 2)}`} key=${at}>${inline(token.tokens)}<//>`
    case "paragraph":
      return html`<p key=${at}>${inline(token.tokens)}</p>`
    case "text":
      return html`<span key=${at}>${token.tokens ? inline(token.tokens) : token.text}</span>`
    case "code": {
      const language = (token.lang ?? "").trim().split(/\s+/)[0].toLowerCase()
      return language === "diff"
        ? html`<${Diff} key=${at} text=${token.text} />`
        : html`<${Code} key=${at} text=${token.text} language=${language} />`
    }
    case "blockquote":
      return html`<blockquote key=${at}>${blocks(token.tokens, depth + 1)}</blockquote>`
    case "list":
      return html`<${token.ordered ? "ol" : "ul"} key=${at} start=${token.ordered && token.start !== 1 ? token.start : undefined}>
        ${token.items.map(
          (item, number) =>
            html`<li key=${number} class=${item.task ? "task" : ""}>${item.task ? html`<input type="checkbox" disabled aria-label=${item.checked ? "done" : "open"} checked=${item.checked} />` : null}${blocks(
              item.tokens.filter((one) => one.type !== "checkbox"),
              depth + 1,
            )}</li>`,
        )}
      <//>`
    case "hr":
      return html`<hr key=${at} />`
    case "table":
      return html`<div key=${at} class="table"><table>
        <thead><tr>${token.header.map((one, column) => cell(one, "th", token.align[column], column))}</tr></thead>
        <tbody>${token.rows.map((row, number) => html`<tr key=${number}>${row.map((one, column) => cell(one, "td", token.align[column], column))}</tr>`)}</tbody>
      </table></div>`
    default:
      return html`<p key=${at}>${token.raw}</p>`
  }
}

function read(text) {
  const lexer = new Lexer()
  try {
    lexer.blockTokens(text.replace(/\r\n?/g, "\n"), lexer.tokens)
    for (const { src, tokens } of lexer.inlineQueue) {
      if (src.length > PARAGRAPH) tokens.push({ type: "text", raw: src, text: src })
      else lexer.inlineTokens(src, tokens)
    }
    return lexer.tokens
  } catch {
    // Nested too deeply.
    return [{ raw: text }]
  }
}

export class Markdown extends Memo {
  render({ text }) {
    return html`<div class="prose">${blocks(read(visible(text)), 0)}</div>`
  }
}
