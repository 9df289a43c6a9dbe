"""One file of settings. Everything that differs between two offices comes from the environment."""

from pathlib import Path

from office import environment

BASE_DIR = Path(__file__).resolve().parent.parent
OFFICE_DATA = environment.data_folder()

DEBUG = environment.flag("OFFICE_DEBUG")
SECRET_KEY = environment.secret("OFFICE_SECRET_KEY", OFFICE_DATA)
ALLOWED_HOSTS = environment.words("OFFICE_HOSTS", "localhost,127.0.0.1,[::1]")
CSRF_TRUSTED_ORIGINS = environment.words("OFFICE_ORIGINS")
# Behind a proxy that speaks TLS: cookies only over https, and the proxy's word on the scheme is believed.
BEHIND_TLS = environment.flag("OFFICE_BEHIND_TLS")

INSTALLED_APPS = [
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.staticfiles",
    "channels",
    "rest_framework",
    "drf_spectacular",
    "office",
    "office.live",
    "office.web",
    "threads",
    "memory",
    "modes",
]
MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "office.web.security.ContentSecurity",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
]
ROOT_URLCONF = "office.urls"
ASGI_APPLICATION = "office.asgi.application"
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "APP_DIRS": True,
        "OPTIONS": {"context_processors": ["django.template.context_processors.request"]},
    }
]

DATABASES = {"default": environment.database(OFFICE_DATA)}
ATOMIC_REQUESTS = False
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
CHANNEL_LAYERS = {"default": environment.channel_layer()}

AUTH_USER_MODEL = "office.Person"
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator"},
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
]
SESSION_ENGINE = "django.contrib.sessions.backends.db"
SESSION_COOKIE_AGE = 60 * 60 * 24 * 30
SESSION_COOKIE_SAMESITE = "Lax"
SESSION_COOKIE_HTTPONLY = True
# Two offices on one machine (another port) must not sign each other out: cookies know no port.
SESSION_COOKIE_NAME = environment.text("OFFICE_COOKIE", "office_session")
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = BEHIND_TLS
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if BEHIND_TLS else None
SECURE_CROSS_ORIGIN_OPENER_POLICY = "same-origin"
SECURE_REFERRER_POLICY = "same-origin"
X_FRAME_OPTIONS = "DENY"
FORCE_SCRIPT_NAME = environment.text("OFFICE_SUBPATH") or None
DATA_UPLOAD_MAX_MEMORY_SIZE = 2 * 1024 * 1024

LANGUAGE_CODE = "en"
USE_I18N = False
USE_TZ = True
TIME_ZONE = "UTC"

STATIC_URL = f"{FORCE_SCRIPT_NAME or ''}/static/"
STATIC_ROOT = None  # files are served from where they lie; there is nothing to collect
WHITENOISE_USE_FINDERS = True
WHITENOISE_AUTOREFRESH = DEBUG
# Modules import each other by plain names, so browsers ask each time and get 304 while nothing changed.
WHITENOISE_MAX_AGE = 0

REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": [
        "office.api.auth.TokenAuthentication",
        "office.api.auth.CookieAuthentication",
    ],
    "DEFAULT_PERMISSION_CLASSES": ["office.api.auth.IsMember"],
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_PARSER_CLASSES": ["rest_framework.parsers.JSONParser"],
    "DEFAULT_SCHEMA_CLASS": "drf_spectacular.openapi.AutoSchema",
    "EXCEPTION_HANDLER": "office.api.problems.answer",
    "DEFAULT_THROTTLE_CLASSES": ["office.live.limits.PerPerson"],
    "DEFAULT_THROTTLE_RATES": {
        "api": environment.text("OFFICE_API_RATE", "600/min"),
        "messages": environment.text("OFFICE_MESSAGE_RATE", "120/min"),
        "signin": environment.text("OFFICE_SIGNIN_RATE", "10/min"),
    },
    "UNAUTHENTICATED_USER": None,
    "DATETIME_FORMAT": "%Y-%m-%dT%H:%M:%S.%fZ",
}
SPECTACULAR_SETTINGS = {
    "TITLE": "Agent Office",
    "VERSION": "1",
    "SERVE_INCLUDE_SCHEMA": False,
    "SERVE_PERMISSIONS": ["office.api.auth.IsMember"],
    "SCHEMA_PATH_PREFIX": "/api/v1",
}

# Live delivery: first values of the protocol; see office/live/PROTOCOL.md.
LIVE_BEAT_SECONDS = environment.number("OFFICE_BEAT_SECONDS", 20)
LIVE_SOCKETS_PER_PERSON = environment.number("OFFICE_SOCKETS_PER_PERSON", 8)
LIVE_STREAMS_PER_SOCKET = 128
# Besides these, as many subscriptions as a socket may hold; acknowledgements are free.
LIVE_FRAMES_PER_10_SECONDS = environment.number("OFFICE_SOCKET_FRAMES", 60)
LIVE_QUEUE_FRAMES, LIVE_QUEUE_BYTES = 256, 1024 * 1024
LIVE_UNACKED_FRAMES, LIVE_UNACKED_BYTES = 500, 1024 * 1024
LIVE_PROCESSES = environment.number("OFFICE_PROCESSES", 1)
JOBS_AT_ONCE = environment.number("OFFICE_RUNS_AT_ONCE", 400)
OFFICE_PRIVATE_ENDPOINTS = environment.words("OFFICE_PRIVATE_ENDPOINTS")

LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "filters": {"secrets": {"()": "office.redaction.SecretFilter"}},
    "formatters": {"plain": {"format": "{asctime} {levelname} {name}: {message}", "style": "{"}},
    "handlers": {"console": {"class": "logging.StreamHandler", "formatter": "plain", "filters": ["secrets"]}},
    "root": {"handlers": ["console"], "level": "WARNING"},
    "loggers": {
        # A refusal is an answer, not a fault; those of the server itself still show.
        "django.request": {"level": "ERROR"},
        "office": {"level": "INFO"},
        "threads": {"level": "INFO"},
        "modes": {"level": "INFO"},
    },
}
