"""Why a model was of no use, and learning with it."""

from __future__ import annotations

FAILURES: dict[str, dict[str, str]] = {
    "zh": {
        "failure_timeout": "模型没有及时回答",
        "failure_rate_limit": "请求太频繁，被模型服务限流",
        "failure_key": "模型服务不认密钥（填错、过期或没有权限）",
        "failure_refused": "模型服务不接受请求（请检查模型名称和参数）",
        "failure_unreachable": "连不上模型服务",
        "failure_unavailable": "模型服务出错或暂时不可用",
        "failure_no_provider": "没有可用的模型，请在 AstrBot 管理面板里添加",
        "failure_no_json": "模型没有按要求用 JSON 回答",
        "failure_runaway": "模型的回答没完没了（太长或不断重复），不再自动重试",
        "failure_storage": "数据读写失败",
        "failure_gone": "这批消息已经不在了",
        "failure_other": "意外的错误，详情见日志",
        "over_share": (
            "⏸ 有 {count} 批等到零点再学：说这些话的人用完了自己今天那份 token。"
            "管理员可以用 /memory flush 让它们现在就学。"
        ),
    },
    "en": {
        "failure_timeout": "the model did not answer in time",
        "failure_rate_limit": "the model's provider limits the rate of requests",
        "failure_key": "the model's provider refuses the key (wrong, expired or without rights)",
        "failure_refused": (
            "the model's provider refuses the request (check the model's name and parameters)"
        ),
        "failure_unreachable": "the model's provider cannot be reached",
        "failure_unavailable": "the model's provider failed or is down",
        "failure_no_provider": "there is no model; add one in AstrBot's dashboard",
        "failure_no_json": "the model answered without the JSON it was asked for",
        "failure_runaway": (
            "the model's answer did not end (far too long or repeating itself); it is not"
            " asked again by itself"
        ),
        "failure_storage": "the data could not be read or written",
        "failure_gone": "its messages are gone",
        "failure_other": "an unexpected error; the log has the details",
        "over_share": (
            "⏸ {count:batch waits|batches wait} for midnight: whoever said it has used their"
            " share of today's tokens. /memory flush learns them now (admins)."
        ),
    },
}
