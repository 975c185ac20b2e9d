//! Complete receivers (documentation only: this module has no items to call).
//!
//! All three do the same: keep the raw body, answer 400 to a delivery that does not verify, handle each
//! event once, and answer 503 or 500 when the sender must repeat it. Before a 500 they print the error with its
//! cause (`{error:?}`): nothing else shows why an event comes again. This crate's tests run each of them with a
//! good, a repeated and a forged delivery, and `preauth-server probe` finds no fault in any.
//!
//! They need the feature `events`. Events are small: a limit of 256 KiB for the body is ample.
//!
//! # axum
//!
//! ```
//! use std::sync::Arc;
//!
//! use axum::Router;
//! use axum::body::Bytes;
//! use axum::extract::{DefaultBodyLimit, State};
//! use axum::http::{HeaderMap, StatusCode};
//! use axum::routing::post;
//! use webhook_verify::events::{Event, Handled, MemorySeen, Once};
//! use webhook_verify::{SIGNATURE_HEADER, Secret, Verifier};
//!
//! struct Receiver {
//!     verifier: Verifier,
//!     once: Once<MemorySeen>,
//! }
//!
//! /// `Bytes` is the body as it came; `Json` would have parsed it and thrown the bytes away.
//! async fn receive(
//!     State(receiver): State<Arc<Receiver>>,
//!     headers: HeaderMap,
//!     body: Bytes,
//! ) -> StatusCode {
//!     let signature = headers.get(SIGNATURE_HEADER).map(|value| value.as_bytes());
//!     let delivery = match receiver.verifier.verify_now(signature, &body) {
//!         Ok(delivery) => delivery,
//!         Err(error) => {
//!             eprintln!("webhook refused: {error}");
//!             return StatusCode::BAD_REQUEST;
//!         }
//!     };
//!     let event = match delivery.event() {
//!         Ok(event) => event,
//!         Err(error) => {
//!             eprintln!("webhook not understood: {error:?}");
//!             return StatusCode::INTERNAL_SERVER_ERROR;
//!         }
//!     };
//!     match receiver.once.handle(event.id(), async || act_on(&event).await).await {
//!         Ok(Handled::Now(()) | Handled::Before) => StatusCode::NO_CONTENT,
//!         Ok(Handled::UnderWay) => StatusCode::SERVICE_UNAVAILABLE,
//!         Err(error) => {
//!             eprintln!("webhook {} not handled: {error:?}", event.id());
//!             StatusCode::INTERNAL_SERVER_ERROR
//!         }
//!     }
//! }
//!
//! async fn act_on(event: &Event) -> Result<(), std::io::Error> {
//!     println!("{} {}", event.event_type(), event.id());
//!     # HANDLED.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
//!     Ok(())
//! }
//!
//! fn router(secret: Secret) -> Router {
//!     Router::new()
//!         .route("/webhooks", post(receive))
//!         .layer(DefaultBodyLimit::max(256 * 1024))
//!         .with_state(Arc::new(Receiver {
//!             verifier: Verifier::new(secret),
//!             once: Once::new(MemorySeen::default()),
//!         }))
//! }
//! # static HANDLED: std::sync::atomic::AtomicUsize = std::sync::atomic::AtomicUsize::new(0);
//! # mod given { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/support/delivery.rs")); }
//! # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
//! # use tower::ServiceExt;
//! # let app = router(given::secret());
//! # for (header, expected) in given::deliveries() {
//! #     let request = axum::http::Request::post("/webhooks").header(SIGNATURE_HEADER, header);
//! #     let request = request.body(axum::body::Body::from(given::BODY)).unwrap();
//! #     let answer = app.clone().oneshot(request).await.unwrap();
//! #     assert_eq!(answer.status().as_u16(), expected);
//! # }
//! # assert_eq!(HANDLED.load(std::sync::atomic::Ordering::Relaxed), 1);
//! # let listener = tokio::net::TcpListener::from_std(given::listener()).unwrap();
//! # let address = listener.local_addr().unwrap();
//! # tokio::spawn(async { axum::serve(listener, app).await });
//! # given::passes_the_probe(address).await;
//! # });
//! ```
//!
//! # salvo
//!
//! ```
//! use salvo::http::StatusCode;
//! use salvo::{Request, Response, Router, handler};
//! use webhook_verify::events::{Event, Handled, MemorySeen, Once};
//! use webhook_verify::{SIGNATURE_HEADER, Secret, Verifier};
//!
//! struct Receiver {
//!     verifier: Verifier,
//!     once: Once<MemorySeen>,
//! }
//!
//! #[handler]
//! impl Receiver {
//!     async fn handle(&self, request: &mut Request, response: &mut Response) {
//!         response.status_code(self.receive(request).await);
//!     }
//! }
//!
//! impl Receiver {
//!     async fn receive(&self, request: &mut Request) -> StatusCode {
//!         let signature = request.headers().get(SIGNATURE_HEADER).cloned();
//!         let Ok(body) = request.payload_with_max_size(256 * 1024).await else {
//!             return StatusCode::BAD_REQUEST;
//!         };
//!         let signature = signature.as_ref().map(|value| value.as_bytes());
//!         let delivery = match self.verifier.verify_now(signature, body) {
//!             Ok(delivery) => delivery,
//!             Err(error) => {
//!                 eprintln!("webhook refused: {error}");
//!                 return StatusCode::BAD_REQUEST;
//!             }
//!         };
//!         let event = match delivery.event() {
//!             Ok(event) => event,
//!             Err(error) => {
//!                 eprintln!("webhook not understood: {error:?}");
//!                 return StatusCode::INTERNAL_SERVER_ERROR;
//!             }
//!         };
//!         match self.once.handle(event.id(), async || act_on(&event).await).await {
//!             Ok(Handled::Now(()) | Handled::Before) => StatusCode::NO_CONTENT,
//!             Ok(Handled::UnderWay) => StatusCode::SERVICE_UNAVAILABLE,
//!             Err(error) => {
//!                 eprintln!("webhook {} not handled: {error:?}", event.id());
//!                 StatusCode::INTERNAL_SERVER_ERROR
//!             }
//!         }
//!     }
//! }
//!
//! async fn act_on(event: &Event) -> Result<(), std::io::Error> {
//!     println!("{} {}", event.event_type(), event.id());
//!     # HANDLED.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
//!     Ok(())
//! }
//!
//! fn receiver(secret: Secret) -> Receiver {
//!     Receiver {
//!         verifier: Verifier::new(secret),
//!         once: Once::new(MemorySeen::default()),
//!     }
//! }
//!
//! fn router(receiver: Receiver) -> Router {
//!     Router::with_path("webhooks").post(receiver)
//! }
//! # static HANDLED: std::sync::atomic::AtomicUsize = std::sync::atomic::AtomicUsize::new(0);
//! # mod given { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/support/delivery.rs")); }
//! # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
//! # let app = receiver(given::secret());
//! # for (header, expected) in given::deliveries() {
//! #     let mut request = Request::new();
//! #     request.headers_mut().insert(SIGNATURE_HEADER, header.parse().unwrap());
//! #     *request.body_mut() = salvo::http::ReqBody::Once(given::BODY.into());
//! #     assert_eq!(app.receive(&mut request).await.as_u16(), expected);
//! # }
//! # assert_eq!(HANDLED.load(std::sync::atomic::Ordering::Relaxed), 1);
//! # let listener = tokio::net::TcpListener::from_std(given::listener()).unwrap();
//! # let address = listener.local_addr().unwrap();
//! # let listener = salvo::conn::tcp::TcpAcceptor::try_from(listener).unwrap();
//! # tokio::spawn(salvo::Server::new(listener).serve(router(app)));
//! # given::passes_the_probe(address).await;
//! # });
//! ```
//!
//! # actix-web
//!
//! ```
//! use actix_web::web::{Bytes, Data, PayloadConfig, ServiceConfig};
//! use actix_web::{HttpRequest, HttpResponse, post};
//! use webhook_verify::events::{Event, Handled, MemorySeen, Once};
//! use webhook_verify::{SIGNATURE_HEADER, Secret, Verifier};
//!
//! struct Receiver {
//!     verifier: Verifier,
//!     once: Once<MemorySeen>,
//! }
//!
//! #[post("/webhooks")]
//! async fn receive(receiver: Data<Receiver>, request: HttpRequest, body: Bytes) -> HttpResponse {
//!     let signature = request.headers().get(SIGNATURE_HEADER).map(|value| value.as_bytes());
//!     let delivery = match receiver.verifier.verify_now(signature, &body) {
//!         Ok(delivery) => delivery,
//!         Err(error) => {
//!             eprintln!("webhook refused: {error}");
//!             return HttpResponse::BadRequest().finish();
//!         }
//!     };
//!     let event = match delivery.event() {
//!         Ok(event) => event,
//!         Err(error) => {
//!             eprintln!("webhook not understood: {error:?}");
//!             return HttpResponse::InternalServerError().finish();
//!         }
//!     };
//!     match receiver.once.handle(event.id(), async || act_on(&event).await).await {
//!         Ok(Handled::Now(()) | Handled::Before) => HttpResponse::NoContent().finish(),
//!         Ok(Handled::UnderWay) => HttpResponse::ServiceUnavailable().finish(),
//!         Err(error) => {
//!             eprintln!("webhook {} not handled: {error:?}", event.id());
//!             HttpResponse::InternalServerError().finish()
//!         }
//!     }
//! }
//!
//! async fn act_on(event: &Event) -> Result<(), std::io::Error> {
//!     println!("{} {}", event.event_type(), event.id());
//!     # HANDLED.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
//!     Ok(())
//! }
//!
//! /// For `App::new().configure(webhooks(receiver))`; make `receiver` once, outside the factory, so
//! /// that the workers share it.
//! fn webhooks(receiver: Data<Receiver>) -> impl FnOnce(&mut ServiceConfig) {
//!     move |config| {
//!         config.app_data(receiver);
//!         config.app_data(PayloadConfig::new(256 * 1024));
//!         config.service(receive);
//!     }
//! }
//!
//! fn receiver(secret: Secret) -> Data<Receiver> {
//!     Data::new(Receiver {
//!         verifier: Verifier::new(secret),
//!         once: Once::new(MemorySeen::default()),
//!     })
//! }
//! # static HANDLED: std::sync::atomic::AtomicUsize = std::sync::atomic::AtomicUsize::new(0);
//! # mod given { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/support/delivery.rs")); }
//! # actix_web::rt::System::new().block_on(async {
//! # use actix_web::test;
//! # let app = actix_web::App::new().configure(webhooks(receiver(given::secret())));
//! # let app = test::init_service(app).await;
//! # for (header, expected) in given::deliveries() {
//! #     let request = test::TestRequest::post().uri("/webhooks").set_payload(given::BODY);
//! #     let request = request.insert_header((SIGNATURE_HEADER, header)).to_request();
//! #     let answer = test::call_service(&app, request).await;
//! #     assert_eq!(answer.status().as_u16(), expected);
//! # }
//! # assert_eq!(HANDLED.load(std::sync::atomic::Ordering::Relaxed), 1);
//! # let (listener, shared) = (given::listener(), receiver(given::secret()));
//! # let address = listener.local_addr().unwrap();
//! # let app = move || actix_web::App::new().configure(webhooks(shared.clone()));
//! # let server = actix_web::HttpServer::new(app).workers(1).listen(listener).unwrap().run();
//! # actix_web::rt::spawn(server);
//! # given::passes_the_probe(address).await;
//! # });
//! ```
