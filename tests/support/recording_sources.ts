/**
 * The recordings whose shapes the project keeps in tests/recordings, and their names there.
 *
 * @module
 */

/** Source, below the folder of recordings, of each of the project's own. */
export const SELECTION: Readonly<Record<string, string>> = {
  "responses/plain_stream.yaml": "llm/test_responses_basic_streaming.yaml",
  "responses/early_stream.yaml": "llm-openai-plugin/test_async_model.yaml",
  "responses/encrypted_loop.yaml": "llm/test_responses_round_trips_encrypted_reasoning.yaml",
  "responses/streamed_loop.yaml": "llm/test_responses_tool_use_streaming.yaml",
  "responses/same_calls.yaml": "openllmetry/test_responses_tool_calls.yaml",
  "responses/same_reasoning.yaml": "openllmetry/test_responses_reasoning.yaml",
  "responses/same_stream.yaml": "openllmetry/test_responses_streaming_with_content.yaml",
  "responses/azure.yaml":
    "pydantic-ai/test_azure_responses_reasoning_context_default_wire_contract(gpt-5.5).yaml",
  "responses/background.yaml": "pydantic-ai/test_background_mode_streaming_starting_after_vcr.yaml",
  "responses/bedrock.yaml": "pydantic-ai/test_gpt_oss_responses.yaml",
  "responses/chained.yaml":
    "pydantic-ai/test_openai_previous_response_id_seed_auto_chains_through_retries.yaml",
  "responses/code_interpreter.yaml":
    "pydantic-ai/test_openai_responses_thinking_with_code_execution_tool.yaml",
  "responses/compacted.yaml": "pydantic-ai/test_openai_responses_compact_messages.yaml",
  "responses/custom_tool_loop.yaml": "pydantic-ai/test_gpt5_freeform_text_sql_tool.yaml",
  "responses/deepseek_loop.yaml": "pydantic-ai/test_deepseek_responses_replay_own_reasoning_history.yaml",
  "responses/deepseek_refusal.yaml":
    "pydantic-ai/test_deepseek_responses_rejects_interleaved_function_calls.yaml",
  "responses/file_search.yaml": "pydantic-ai/test_openai_responses_model_file_search_tool_stream.yaml",
  "responses/invalid_value.yaml": "pydantic-ai/test_openai_responses_model_http_error.yaml",
  "responses/mcp_list.yaml":
    "pydantic-ai/test_openai_responses_model_mcp_list_tools_stream_backfills_missing_results.yaml",
  "responses/mcp_call.yaml": "pydantic-ai/test_openai_responses_model_mcp_server_tool_stream.yaml",
  "responses/moderation.yaml": "pydantic-ai/test_openai_responses_moderation_stream.yaml",
  "responses/modified_history.yaml": "pydantic-ai/test_openai_responses_thinking_with_modified_history.yaml",
  "responses/phase_loop.yaml": "pydantic-ai/test_openai_responses_phase_live.yaml",
  "responses/rate_limited.yaml": "pydantic-ai/test_openrouter_errors_raised.yaml",
  "responses/retried_call.yaml": "pydantic-ai/test_openai_responses_model_retry.yaml",
  "responses/status_null.yaml": "pydantic-ai/test_openai_responses_requires_function_call_status_none.yaml",
  "responses/tool_loop.yaml": "pydantic-ai/test_openai_responses_thinking_with_tool_calls.yaml",
  "responses/unsupported_file.yaml":
    "pydantic-ai/test_multimodal_tool_return_matrix(direct-url-audio-openai_responses).yaml",
  "responses/web_search.yaml": "pydantic-ai/test_openai_responses_model_web_search_tool_stream.yaml",
  "responses/network_chunks.json": "req_llm/gpt_5.reasoning_streaming.json",
  "responses/unsupported_effort.json": "req_llm/gpt_5_chat_latest.reasoning_basic.json",
  "responses/incomplete.sse": "req_llm/codex_mini_latest.streaming.json.decoded.sse",
  "responses/document.json": "vercel-ai/openai-reasoning-encrypted-content.1.json",
  "responses/quota_error.json": "vercel-ai/openai-error.1.json",
  "responses/call_error.json": "vercel-ai/issue-18134-shell-store-false-error.json",
  "responses/parameter_error.json": "vercel-ai/openai-issue-17402-error.1.json",
  "responses/abridged.chunks.txt": "vercel-ai/openai-issue-8562-missing-reasoning-summary.1.chunks.txt",
  "responses/apply_patch.chunks.txt": "vercel-ai/openai-apply-patch-tool.1.chunks.txt",
  "responses/approval_asked.chunks.txt": "vercel-ai/openai-mcp-tool-approval.1.chunks.txt",
  "responses/approval_answered.chunks.txt": "vercel-ai/openai-mcp-tool-approval.2.chunks.txt",
  "responses/azure_call.chunks.txt": "vercel-ai/azure-tool-call.1.chunks.txt",
  "responses/azure_summaries.chunks.txt":
    "vercel-ai/azure-gpt5-reasoning-multi-summary-with-encryption.chunks.txt",
  "responses/broken_json.chunks.txt": "vercel-ai/parallel-tool-call-wrapper.1.chunks.txt",
  "responses/code_stream.chunks.txt": "vercel-ai/openai-code-interpreter-tool.1.chunks.txt",
  "responses/custom_text_gap.chunks.txt": "vercel-ai/openai-custom-text-tool.1.chunks.txt",
  "responses/error_event.chunks.txt": "vercel-ai/openai-error.1.chunks.txt",
  "responses/failed.chunks.txt": "vercel-ai/openai-response-failed-only.1.chunks.txt",
  "responses/file_results.chunks.txt": "vercel-ai/openai-file-search-tool.2.chunks.txt",
  "responses/four_responses.chunks.txt": "vercel-ai/openai-reasoning-encrypted-content.1.chunks.txt",
  "responses/image.chunks.txt": "vercel-ai/openai-image-generation-tool.1.chunks.txt",
  "responses/lm_studio.chunks.txt": "vercel-ai/lmstudio-tool-call.1.chunks.txt",
  "responses/phase_gap.chunks.txt": "vercel-ai/openai-phase.1.chunks.txt",
  "responses/program.chunks.txt": "vercel-ai/programmatic-tool-calling.1.chunks.txt",
  "responses/shell.chunks.txt": "vercel-ai/openai-shell-container.1.chunks.txt",
  "responses/tool_search.chunks.txt": "vercel-ai/openai-tool-search.1.chunks.txt",
  "responses/truncated.chunks.txt": "vercel-ai/issue-18872-truncated-reasoning.chunks.txt",
  "responses/xai.chunks.txt": "vercel-ai/xai-text-with-reasoning-streaming-store-false.1.chunks.txt",

  "messages/other_model.yaml": "pydantic-ai/test_anthropic_model_thinking_part_from_other_model.yaml",
  "messages/redacted.yaml": "pydantic-ai/test_anthropic_model_thinking_part_redacted.yaml",
  "messages/stream.yaml": "pydantic-ai/test_anthropic_model_thinking_part_stream.yaml",
  "messages/tool_loop.yaml": "pydantic-ai/test_anthropic_tool_with_thinking.yaml",
  "messages/cleared.chunks.txt": "vercel-ai/anthropic-clear-thinking.1.chunks.txt",
  "messages/refusal.chunks.txt": "vercel-ai/anthropic-refusal.chunks.txt",
  "messages/spliced.chunks.txt": "vercel-ai/spliced-message-start.chunks.txt",

  "chat/azure_filters.chunks.txt": "chat/azure-model-router.1.chunks.txt",
  "chat/azure_limit.yml":
    "chat/chat_real_error_scenarios_azure_grok-4-1-fast-non-reasoning_handles_context_length_exceeded_errors.yml",
  "chat/calls.yaml": "chat/test_chat_completion_tool_calls_with_content.yaml",
  "chat/deepseek_call.chunks.txt": "chat/deepseek-tool-call.chunks.txt",
  "chat/deepseek_context.yml":
    "chat/chat_real_error_scenarios_deepseek_deepseek-chat_handles_context_length_exceeded_errors.yml",
  "chat/deepseek_key.yml":
    "chat/chat_error_handling_with_deepseek_deepseek-chat_raises_appropriate_auth_error.yml",
  "chat/groq_error.yaml": "chat/test_tool_use_failed_error_streaming.yaml",
  "chat/mistral_thinking.yaml": "chat/test_mistral_model_thinking_part_iter.yaml",
  "chat/openrouter_error.yaml": "chat/test_openrouter_stream_error.yaml",
  "chat/openrouter_reasoning.yaml": "chat/test_openrouter_streaming_reasoning.yaml",
  "chat/parallel_calls.yaml": "chat/test_complex_agent_run_in_workflow.yaml",
  "chat/parameter_error.json": "chat/reasoning-model-legacy-parameter-error.json",
  "chat/refusal.yaml": "chat/test_parsed_refused_completion.yaml",
  "chat/streamed_call.yaml": "chat/test_run_stream_sync_streams_real_model.yaml",
};
