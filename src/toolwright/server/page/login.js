document.getElementById("login").addEventListener("submit", (event) => {
  event.preventDefault()
  const secret = document.getElementById("secret").value.trim()
  if (secret) location.replace(`/k-${encodeURIComponent(secret)}/`)
})
