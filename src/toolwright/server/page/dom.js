// Elements from code. Text is always text: nothing here reads HTML.
export const $ = (id) => document.getElementById(id)

export function el(tag, attributes = {}, ...children) {
  const made = document.createElement(tag)
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value)
    else if (value === true) made.setAttribute(name, "")
    else if (value !== false && value != null) made.setAttribute(name, String(value))
  }
  made.append(...children.flat().filter((one) => one != null))
  return made
}
