// Markdown and differences as elements.
import { el } from "./dom.js"

const INLINE = /(`[^`\n]+`)|(\*\*[^*\n]+\*\*)|(\[[^\]\n]+\]\(https?:\/\/[^\s)]+\))/g

function inline(text) {
  const found = []
  let at = 0
  for (const match of text.matchAll(INLINE)) {
    if (match.index > at) found.push(text.slice(at, match.index))
    const [whole] = match
    if (match[1]) found.push(el("code", {}, whole.slice(1, -1)))
    else if (match[2]) found.push(el("strong", {}, whole.slice(2, -2)))
    else {
      const [, label, url] = whole.match(/^\[(.*)\]\((.*)\)$/)
      found.push(el("a", { href: url, rel: "noreferrer noopener", target: "_blank" }, label))
    }
    at = match.index + whole.length
  }
  found.push(text.slice(at))
  return found
}

export function markdown(text) {
  const root = el("div", { class: "prose" })
  const lines = text.split("\n")
  let paragraph = []
  let list = null
  const close = () => {
    if (paragraph.length) root.append(el("p", {}, inline(paragraph.join("\n"))))
    paragraph = []
    list = null
  }
  for (let at = 0; at < lines.length; at++) {
    const line = lines[at]
    const fence = line.match(/^\s*(```+|~~~+)(.*)$/)
    if (fence) {
      close()
      const body = []
      while (++at < lines.length && !lines[at].trim().startsWith(fence[1])) body.push(lines[at])
      const text = body.join("\n")
      root.append(fence[2].trim() === "diff" ? diff(text) : el("pre", {}, el("code", {}, text)))
      continue
    }
    const heading = line.match(/^(#{1,4})\s+(.*)$/)
    const item = line.match(/^\s*(?:[-*+]|\d+[.)])\s+(.*)$/)
    if (heading) {
      close()
      root.append(el(`h${heading[1].length + 2}`, {}, inline(heading[2])))
    } else if (item) {
      if (!list) {
        close()
        list = el(/^\s*\d/.test(line) ? "ol" : "ul")
        root.append(list)
      }
      list.append(el("li", {}, inline(item[1])))
    } else if (!line.trim()) close()
    else paragraph.push(line)
  }
  close()
  return root
}

export function diff(text) {
  const rows = []
  for (const line of text.split("\n")) {
    if (/^(Index: |=====|--- |\+\+\+ |diff |index )/.test(line)) continue
    const kind = line.startsWith("@@") ? "place" : { "+": "added", "-": "removed" }[line[0]] ?? "same"
    rows.push(el("div", { class: kind }, line || " "))
  }
  return el("div", { class: "diff" }, rows)
}
