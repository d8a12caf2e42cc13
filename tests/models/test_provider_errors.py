"""What twenty providers say when they refuse: which kind it is, whether it is tried again, how long is waited."""

import json
from typing import Any

import pytest

from toolwright.models.model import Trouble
from toolwright.models.transport.failures import refusal

QUOTA = "You exceeded your current quota, please check your plan and billing details."
GOOGLE_WAIT = {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "26s"}
GOOGLE_MINUTE = {"quotaId": "GenerateRequestsPerMinutePerProjectPerModel-FreeTier"}

Row = tuple[str, int, Any, dict[str, str], Trouble, bool, float | None]
ROWS: tuple[Row, ...] = (
    ("OpenAI", 429, {"error": {"message": QUOTA, "type": "insufficient_quota", "code": "insufficient_quota"}}, {}, "quota", False, None),
    ("OpenAI", 429, {"error": {"message": "Rate limit reached for gpt-6 in organization org-x on tokens per min (TPM): Limit 30000. Please try again in 1.5s. Visit https://platform.openai.com/account/billing to add a payment method.", "type": "tokens", "code": "rate_limit_exceeded"}}, {}, "quota", True, 1.5),
    ("OpenAI", 429, {"error": {"message": "Rate limit reached. Please try again in 340ms.", "code": "rate_limit_exceeded"}}, {}, "quota", True, 0.34),
    ("OpenAI", 400, {"error": {"message": "Your input exceeds the context window of this model.", "code": "context_length_exceeded"}}, {}, "context_overflow", False, None),
    ("OpenAI", 401, {"error": {"message": "Incorrect API key provided: sk-x.", "code": "invalid_api_key"}}, {}, "auth", False, None),
    ("OpenAI", 404, {"error": {"message": "The model `gpt-9` does not exist or you do not have access to it.", "code": "model_not_found"}}, {}, "not_found", False, None),
    ("Anthropic", 429, {"type": "error", "error": {"type": "rate_limit_error", "message": "This request would exceed the rate limit for your organization."}}, {"retry-after": "12"}, "quota", True, 12.0),
    ("Anthropic", 529, {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}, {}, "overload", True, None),
    ("Anthropic", 400, {"type": "error", "error": {"type": "invalid_request_error", "message": "Your credit balance is too low to access the Anthropic API. Please go to Plans & Billing."}}, {}, "quota", False, None),
    ("Anthropic", 400, {"type": "error", "error": {"type": "invalid_request_error", "message": "prompt is too long: 208310 tokens > 200000 maximum"}}, {}, "context_overflow", False, None),
    ("Anthropic", 413, {"type": "error", "error": {"type": "request_too_large", "message": "Request exceeds the maximum size"}}, {}, "context_overflow", False, None),
    ("Gemini", 429, {"error": {"code": 429, "message": f"{QUOTA} Please retry in 26.3s.", "status": "RESOURCE_EXHAUSTED", "details": [GOOGLE_MINUTE, GOOGLE_WAIT]}}, {}, "quota", True, 26.0),
    ("Gemini", 429, {"error": {"code": 429, "message": f"{QUOTA} Please retry in 34.5s.", "status": "RESOURCE_EXHAUSTED"}}, {}, "quota", True, 34.5),
    ("Gemini", 503, {"error": {"code": 503, "message": "The model is overloaded. Please try again later.", "status": "UNAVAILABLE"}}, {}, "overload", True, None),
    ("Gemini", 400, {"error": {"code": 400, "message": "API key not valid. Please pass a valid API key.", "status": "INVALID_ARGUMENT", "details": [{"reason": "API_KEY_INVALID"}]}}, {}, "auth", False, None),
    ("Gemini", 400, {"error": {"code": 400, "message": "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).", "status": "INVALID_ARGUMENT"}}, {}, "context_overflow", False, None),
    ("Groq", 429, {"error": {"message": "Rate limit reached for model x on tokens per minute (TPM): Limit 6000. Please try again in 9.998s. Need more tokens? Upgrade to Dev Tier today at https://console.groq.com/settings/billing", "type": "tokens", "code": "rate_limit_exceeded"}}, {"retry-after": "10"}, "quota", True, 10.0),
    ("Groq", 429, {"error": {"message": "Rate limit reached on tokens per day (TPD). Please try again in 7m12s.", "code": "rate_limit_exceeded"}}, {}, "quota", True, 432.0),
    ("OpenRouter", 402, {"error": {"message": "Insufficient credits. Add more using https://openrouter.ai/settings/credits", "code": 402}}, {}, "quota", False, None),
    ("OpenRouter", 403, {"error": {"message": "Input was flagged", "code": 403, "metadata": {"reasons": ["violence"], "provider_name": "x"}}}, {}, "content_filter", False, None),
    ("OpenRouter", 429, {"error": {"message": "Provider returned error", "code": 429, "metadata": {"raw": "google/gemini is temporarily rate-limited upstream. Please retry shortly"}}}, {}, "quota", True, None),
    ("OpenRouter", 404, {"error": {"message": "No endpoints found that support tool use.", "code": 404}}, {}, "not_found", False, None),
    ("Mistral", 422, {"detail": [{"type": "extra_forbidden", "loc": ["body", "stream_options"], "msg": "Extra inputs are not permitted"}]}, {}, "bad_request", False, None),
    ("Mistral", 429, {"object": "error", "message": "Service tier capacity exceeded for this model.", "type": "service_tier_capacity_exceeded", "code": "3505"}, {}, "quota", True, None),
    ("Mistral", 400, {"object": "error", "message": "Prompt contains 140000 tokens and 0 draft tokens, too large for model with 131072 maximum context length", "type": "invalid_request_prompt", "code": "3051"}, {}, "context_overflow", False, None),
    ("DeepSeek", 402, {"error": {"message": "Insufficient Balance", "type": "unknown_error", "code": "invalid_request_error"}}, {}, "quota", False, None),
    ("DeepSeek", 400, {"error": {"message": "This model's maximum context length is 131072 tokens. However, you requested 140000 tokens.", "type": "invalid_request_error"}}, {}, "context_overflow", False, None),
    ("Moonshot", 429, {"error": {"message": "Your account org-x is not active, current state: exceeded current quota, please check your account balance", "type": "exceeded_current_quota_error"}}, {}, "quota", False, None),
    ("Moonshot", 429, {"error": {"message": "The engine is currently overloaded, please try again later", "type": "engine_overloaded_error"}}, {}, "quota", True, None),
    ("Moonshot", 400, {"error": {"message": "Invalid request: Your request exceeded model token limit: 262144", "type": "invalid_request_error"}}, {}, "context_overflow", False, None),
    ("Z.AI", 400, {"error": {"code": "1261", "message": "Prompt exceeds max length"}}, {}, "context_overflow", False, None),
    ("Z.AI", 429, {"error": {"code": "1302", "message": "High concurrency usage of this API, please reduce concurrency"}}, {}, "quota", True, None),
    ("Z.AI", 429, {"error": {"code": "1113", "message": "Your account is in arrears, please recharge and try again"}}, {}, "quota", False, None),
    ("xAI", 400, {"code": "Client specified an invalid argument", "error": "This model's maximum prompt length is 131072 but the request contains 537812 tokens."}, {}, "context_overflow", False, None),
    ("xAI", 403, {"code": "The caller does not have permission", "error": "Your team does not have access"}, {}, "auth", False, None),
    ("Together", 422, {"error": {"message": "Input validation error: `inputs` must have less than 4096 tokens. Given: 5000", "type": "invalid_request_error"}}, {}, "context_overflow", False, None),
    ("Together", 422, {"error": {"message": "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 32769. Given: 33000 `inputs` tokens and 512 `max_new_tokens`", "type": "invalid_request_error"}}, {}, "context_overflow", False, None),
    ("Together", 503, {"error": {"message": "The server is overloaded or not ready yet.", "type": "service_unavailable"}}, {}, "overload", True, None),
    ("Fireworks", 412, {"error": {"message": "Account is suspended, possibly due to reaching the monthly spending limit"}}, {}, "bad_request", False, None),
    ("Cerebras", 429, {"message": "Tokens per minute limit exceeded - too many tokens processed.", "type": "too_many_tokens_error", "code": "token_quota_exceeded"}, {"retry-after": "33"}, "quota", True, 33.0),
    ("DeepInfra", 429, {"detail": {"error": "Model busy, retry later"}}, {}, "quota", True, None),
    ("vLLM", 400, {"object": "error", "message": "The decoder prompt (length 40000) is longer than the maximum model length of 32768.", "type": "BadRequestError", "code": 400}, {}, "context_overflow", False, None),
    ("vLLM", 400, {"object": "error", "message": "'max_tokens' or 'max_completion_tokens' is too large: 30000. This model's maximum context length is 32768 tokens and your request has 5000 input tokens (30000 > 32768 - 5000).", "type": "BadRequestError", "code": 400}, {}, "bad_request", False, None),
    ("llama.cpp", 400, {"error": {"code": 400, "message": "the request exceeds the available context size, try increasing it", "type": "exceed_context_size_error", "n_prompt_tokens": 9000, "n_ctx": 8192}}, {}, "context_overflow", False, None),
    ("llama.cpp", 503, {"error": {"code": 503, "message": "Loading model", "type": "unavailable_error"}}, {}, "overload", True, None),
    ("Ollama", 404, {"error": {"message": "model 'qwen9' not found, try pulling it first", "type": "api_error"}}, {}, "not_found", False, None),
    ("LM Studio", 400, {"error": "The number of tokens to keep from the initial prompt is greater than the context length."}, {}, "context_overflow", False, None),
    ("DashScope", 400, {"error": {"code": "invalid_parameter_error", "message": "Range of input length should be [1, 129024]", "type": "invalid_request_error"}}, {}, "context_overflow", False, None),
    ("Qianfan", 400, {"error": {"code": "invalid_argument", "message": "the input tokens is too long", "type": "invalid_request_error"}}, {}, "context_overflow", False, None),
    ("Ark", 400, {"error": {"code": "InvalidParameter", "message": "Total tokens of image and text exceed max message tokens", "type": "BadRequest"}}, {}, "context_overflow", False, None),
    ("Azure", 400, {"error": {"message": "The response was filtered due to the prompt triggering Azure OpenAI's content management policy.", "code": "content_filter", "status": 400}}, {}, "content_filter", False, None),
    ("Azure", 429, {"error": {"code": "RateLimitReached", "message": "Your requests have exceeded call rate limit. Please retry after 17 seconds."}}, {}, "quota", True, 17.0),
    ("Bedrock", 400, {"message": "Input is too long for requested model."}, {}, "context_overflow", False, None),
    ("Bedrock", 429, {"message": "Too many tokens per day, please wait before trying again."}, {}, "quota", False, None),
    ("GitHub Copilot", 400, {"error": {"message": "prompt token count of 140000 exceeds the limit of 128000", "code": "model_max_prompt_tokens_exceeded"}}, {}, "context_overflow", False, None),
    ("Cloudflare", 502, "<html><body>Bad gateway</body></html>", {}, "overload", True, None),
)  # fmt: skip


def test_twenty_providers_have_their_say() -> None:
    assert len({row[0] for row in ROWS}) >= 20


@pytest.mark.parametrize("row", ROWS, ids=[f"{row[0]} {row[1]} {number}" for number, row in enumerate(ROWS)])
def test_what_a_refusal_means(row: Row) -> None:
    provider, status, body, headers, kind, retried, wait = row
    error = refusal(provider, status, headers, body if isinstance(body, str) else json.dumps(body))
    assert (error.kind, error.retryable, error.retry_after) == (kind, retried, wait)


@pytest.mark.parametrize("value", ["nan", "inf", "-inf", "soon", ""])
def test_a_wait_that_is_no_number_is_no_wait(value: str) -> None:
    assert refusal("Acme", 429, {"retry-after": value}, "slow down").retry_after is None
