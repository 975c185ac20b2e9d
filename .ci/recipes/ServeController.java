// Serves a controller of Spring MVC through its own dispatcher: ServeController CLASS PORT

import com.sun.net.httpserver.HttpServer;
import java.net.InetSocketAddress;
import org.springframework.test.web.servlet.request.MockMvcRequestBuilders;
import org.springframework.test.web.servlet.setup.MockMvcBuilders;

final class ServeController {
    public static void main(String[] arguments) throws Exception {
        var controller = Class.forName(arguments[0]).getDeclaredConstructor();
        controller.setAccessible(true);
        var dispatcher = MockMvcBuilders.standaloneSetup(controller.newInstance()).build();
        var address = new InetSocketAddress("127.0.0.1", Integer.parseInt(arguments[1]));
        var server = HttpServer.create(address, 0);
        server.createContext("/", exchange -> {
            var incoming = MockMvcRequestBuilders.post(exchange.getRequestURI())
                .content(exchange.getRequestBody().readAllBytes());
            exchange.getRequestHeaders().forEach((name, values) -> incoming.header(name, values.toArray()));
            int status = 500;
            try {
                status = dispatcher.perform(incoming).andReturn().getResponse().getStatus();
            } catch (Exception error) {
                error.printStackTrace();
            }
            exchange.sendResponseHeaders(status, -1);
            exchange.close();
        });
        server.start();
    }
}
